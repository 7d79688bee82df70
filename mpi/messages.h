/* The functions of libshiplap_mpi, which the program loads when it was started by an MPI's launcher. They are in C, so
   that the library and the program may have been built with different compilers and C++ libraries. All are called from
   one thread. Those that return int return 0, or another number after an error that shiplap_mpi_error describes. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins MPI, and tells the number of this rank and of all ranks. */
int shiplap_mpi_begin(size_t* rank, size_t* size);
/* Starts to send a text, and returns at once. */
int shiplap_mpi_send(size_t to, const char* text, size_t length);
/* Looks for a message. Without one, *found is 0. Otherwise the text, of *length bytes, stays valid until the next
   call. */
int shiplap_mpi_receive(int* found, size_t* from, const char** text, size_t* length);
/* Ends MPI when all ranks call this; waits for them. */
int shiplap_mpi_end(void);
/* Ends all ranks at once, with this exit code. */
void shiplap_mpi_abort(int exit_code);
/* What the last error was. */
const char* shiplap_mpi_error(void);

#ifdef __cplusplus
}
#endif
