/* The calls that may take the GIL. CPython before 3.14 ends a thread that asks for the GIL when the interpreter has
   ended, with pthread_exit, which unwinds the thread's stack. C++ frames do not survive that: destructors end the
   process, and a static C++ runtime misreads the state of the system's unwinder. A handler of pthread_cleanup_push in C
   takes over below shiplap's first one, and stops the thread for good. */
#include "binding/python_end.h"

#include <pthread.h>
#include <unistd.h>

static void stop_for_good(void* unused) {
  (void)unused;
  for (;;) pause();
}

#define STOP_WHEN_PYTHON_HAS_ENDED(CALL)     \
  pthread_cleanup_push(stop_for_good, NULL); \
  CALL;                                      \
  pthread_cleanup_pop(0)

PyGILState_STATE shiplap_take_gil(void) {
  PyGILState_STATE state;
  STOP_WHEN_PYTHON_HAS_ENDED(state = PyGILState_Ensure());
  return state;
}

void shiplap_give_gil(PyGILState_STATE state) { STOP_WHEN_PYTHON_HAS_ENDED(PyGILState_Release(state)); }

void shiplap_restore_thread(PyThreadState* thread) { STOP_WHEN_PYTHON_HAS_ENDED(PyEval_RestoreThread(thread)); }

PyObject* shiplap_call_object(PyObject* function, PyObject* arguments) {
  PyObject* returned;
  STOP_WHEN_PYTHON_HAS_ENDED(returned = PyObject_CallObject(function, arguments));
  return returned;
}
