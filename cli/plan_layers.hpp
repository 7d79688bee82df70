// shiplap plan --layers: plans a model whose weights do not fit on the GPU.
#pragma once

#include <string>

#include "cli/cli11.hpp"
#include "cli/node.hpp"

namespace shiplap::cli {

/// Adds --layers, which goes with few of the options that the command has by now. Every option must be added before.
void add_layers_flag(CLI::App&, std::string& file);
/// Shows the plan of the model in the file under a limit of device memory (as --device-memory has it; empty: all of the
/// GPU's), and what a step takes under others.
void run_plan_layers(const std::string& file, const std::string& device_memory, const NodeFlags&, bool all, bool json);

}  // namespace shiplap::cli
