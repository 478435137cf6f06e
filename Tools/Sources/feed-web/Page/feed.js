// Shows the messages of the server.
