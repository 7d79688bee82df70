// Loads plugins twice and calls them.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  for (int turn = 0; turn < 2; ++turn)
    for (int i = 1; i < argc; ++i) {
      void* plugin = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
      if (plugin == nullptr) {
        std::printf("%s\n", dlerror());
        return 1;
      }
      for (const char* name : {"run_job", "catch_error"}) {
        const auto call = reinterpret_cast<int (*)()>(dlsym(plugin, name));
        if (const int code = call == nullptr ? -1 : call(); code != 0) {
          std::printf("%s of %s ended with %d\n", name, argv[i], code);
          return 1;
        }
      }
      dlclose(plugin);
    }
}
