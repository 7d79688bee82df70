#include <utility>

#include "shiplap/c/handles.hpp"
#include "shiplap/c/status.hpp"
#include "shiplap/device/open.hpp"
#include "shiplap/profile/profile.hpp"

using namespace shiplap;
using c::given;
using c::guarded;

extern "C" {

shiplap_status shiplap_open(shiplap_node** node, const char* device, const char* profile) {
  return guarded([&] {
    given(node, "node") = nullptr;
    const auto opened = open(device != nullptr ? std::string(device) : default_device());
    *node = new shiplap_node{
        .node = profile != nullptr ? node_of(*opened, find_profile(profile)) : load_or_measure(*opened),
        .device = opened->info().id};
  });
}

void shiplap_close(shiplap_node* node) { delete node; }

const char* shiplap_device(const shiplap_node* node) { return node != nullptr ? node->device.c_str() : ""; }

shiplap_status shiplap_allocate(shiplap_node* node, void** data, size_t bytes) {
  return guarded([&] {
    given(node, "node");
    given(data, "data") = nullptr;
    Memory memory = node->node.device->allocate(Place::host(), MemoryKind::pinned, Bytes{bytes});
    void* const address = memory.data();
    node->memory.emplace(address, std::move(memory));
    *data = address;
  });
}

shiplap_status shiplap_free(shiplap_node* node, void* data) {
  return guarded([&] {
    if (data == nullptr) return;
    if (given(node, "node").memory.erase(data) == 0)
      throw UsageError("the address is not one that shiplap_allocate gave for this node and that is still allocated");
  });
}
}
