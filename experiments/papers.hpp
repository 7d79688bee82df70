// The papers that can be reproduced, each defined in a folder of its own.
#pragma once

#include "experiments/experiment.hpp"

namespace shiplap::experiments {

/// B. van Werkhoven, J. Maassen, F. J. Seinstra, H. E. Bal: performance models for CPU-GPU data transfers.
extern const Experiment werkhoven2014;
/// J. Gómez-Luna, J. M. González-Linares, J. I. Benavides, N. Guil: performance models for asynchronous data transfers.
extern const Experiment gomezluna2012;
/// M. Harris: how to implement performance metrics in CUDA C/C++.
extern const Experiment harris2012;
/// F. Stühlinger, H. Thun, P. Stark, R. Graf: overlapping data transfer and computation on GPU.
extern const Experiment eth2025;
/// C. Pearson and others: evaluating characteristics of CUDA communication primitives.
extern const Experiment commscope2019;

}  // namespace shiplap::experiments
