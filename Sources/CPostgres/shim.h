// Makes libpq available to Swift.
#ifndef FOLDBACK_CPOSTGRES_SHIM_H
#define FOLDBACK_CPOSTGRES_SHIM_H

#include <libpq-fe.h>

#endif
