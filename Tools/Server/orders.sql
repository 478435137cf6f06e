-- The table of `orders.py`: what a backend has already, before it knows of Foldback.
CREATE TABLE IF NOT EXISTS orders (
    space  text NOT NULL,
    id     text NOT NULL,
    item   text NOT NULL,
    count  int  NOT NULL CHECK (count > 0),
    status text NOT NULL CHECK (status IN ('open', 'shipped', 'canceled')),
    PRIMARY KEY (space, id)
);
