/* Calls of CPython that may take the GIL, safe in a thread that outlives the interpreter: such a thread stops inside of
   the call for good. Nothing of shiplap's on its stack is destroyed then. */
#pragma once

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

PyGILState_STATE shiplap_take_gil(void);
void shiplap_give_gil(PyGILState_STATE);
void shiplap_restore_thread(PyThreadState*);
PyObject* shiplap_call_object(PyObject* function, PyObject* arguments);

#ifdef __cplusplus
}
#endif
