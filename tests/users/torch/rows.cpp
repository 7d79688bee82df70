// For someone who searches embeddings with PyTorch: scales every row of a large CPU tensor to length 1, streamed by
// shiplap.
#include <torch/extension.h>

#include <shiplap/shiplap.hpp>

namespace {

torch::Tensor normalise_rows(const torch::Tensor& input, const std::string& device, unsigned chunks) {
  TORCH_CHECK_VALUE(input.device().is_cpu() && input.scalar_type() == torch::kFloat32 && input.dim() == 2,
                    "normalise_rows wants a float32 matrix in CPU memory");
  const torch::NoGradGuard no_grad;
  const auto x = input.contiguous();
  auto y = torch::empty_like(x);
  const auto rows = x.size(0), columns = x.size(1);

  const auto gpu = shiplap::open(device);
  const auto node = shiplap::load_or_measure(*gpu);
  const auto job = shiplap::Job{static_cast<std::uint64_t>(rows), "normalise-rows"}
                       .in("x", x.const_data_ptr<float>(), x.numel())
                       .out("y", y.mutable_data_ptr<float>(), y.numel())
                       .host_kernel([=](shiplap::Chunk chunk, auto x, auto y) {
                         const torch::NoGradGuard no_grad;  // of this thread, which may be one of shiplap's
                         const auto count = static_cast<std::int64_t>(chunk.count);
                         const auto in = torch::from_blob(const_cast<float*>(x.data()), {count, columns});
                         auto out = torch::from_blob(y.data(), {count, columns});
                         const auto norms = in.norm(2, 1, true);
                         TORCH_CHECK(norms.isfinite().all().item<bool>(), "rows from ", chunk.first, " are not finite");
                         at::div_out(out, in, norms.clamp_min(1e-12));
                       })
                       .with_flops(3.0 * rows * columns);
  shiplap::PlanOptions options;
  if (chunks != 0) options.space.chunks = {chunks};
  const auto plan = shiplap::plan(node, job, options);
  shiplap::prepare(*gpu, plan, job).run();
  return y;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  py::register_exception<shiplap::Error>(module, "ShiplapError", PyExc_RuntimeError);
  py::register_exception<shiplap::UsageError>(module, "ShiplapUsageError", PyExc_ValueError);
  module.def("normalise_rows", &normalise_rows, py::arg("x"), py::arg("device") = "virtual:h200", py::arg("chunks") = 0,
             py::call_guard<py::gil_scoped_release>());
}
