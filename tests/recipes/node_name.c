// Gives a process the name of a simulated node: the value of SHIPLAP_NODE, if there is one. For LD_PRELOAD.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

int uname(struct utsname* names) {
  int (*real)(struct utsname*) = (int (*)(struct utsname*))dlsym(RTLD_NEXT, "uname");
  const int result = real(names);
  const char* node = getenv("SHIPLAP_NODE");
  if (result == 0 && node != NULL && strlen(node) < sizeof names->nodename) strcpy(names->nodename, node);
  return result;
}

int gethostname(char* name, size_t size) {
  struct utsname names;
  if (uname(&names) != 0) return -1;
  if (strlen(names.nodename) >= size) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(name, names.nodename);
  return 0;
}
