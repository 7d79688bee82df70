// The structures of CUPTI's activity records in the version that the headers have.
#pragma once

#include "shiplap/device/cuda/cupti.hpp"

#ifdef SHIPLAP_HAS_CUPTI

namespace shiplap {

#if CUPTI_API_VERSION >= 130000
using CopyActivity = CUpti_ActivityMemcpy6;
using KernelActivity = CUpti_ActivityKernel10;
using MigrationActivity = CUpti_ActivityUnifiedMemoryCounter3;
#else
using CopyActivity = CUpti_ActivityMemcpy5;
using KernelActivity = CUpti_ActivityKernel9;
using MigrationActivity = CUpti_ActivityUnifiedMemoryCounter2;
#endif
using FillActivity = CUpti_ActivityMemset4;
using PeerCopyActivity = CUpti_ActivityMemcpyPtoP4;

}  // namespace shiplap

#endif
