
#include <cstdint>
#include <gridtools/common/array.hpp>
#include <gridtools/stencil/cartesian.hpp>
#include <gridtools/stencil/cpu_ifirst.hpp>
#include <gridtools/stencil/global_parameter.hpp>
#include <gridtools/stencil/positional.hpp>

namespace arccos_def_impl_ {
using Domain = std::array<gridtools::uint_t, 3>;
using namespace gridtools::stencil;
using namespace gridtools::stencil::cartesian;
using gridtools::array;

struct HorizontalExecution140003247758608 {
  using a = in_accessor<0, extent<0, 0, 0, 0, 0, 0>, 3>;
  using b = inout_accessor<1, extent<0, 0, 0, 0, 0, 0>, 3>;

  using param_list = make_param_list<a, b>;

  template <typename Evaluation>
  GT_FUNCTION static void
  apply(Evaluation eval, gridtools::stencil::core::interval<
                             gridtools::stencil::core::level<0, 1, 2>,
                             gridtools::stencil::core::level<1, -1, 2>>) {

    eval(b()) = std::acos(eval(a()));
  }
};

auto arccos_def(Domain domain) {
  return [domain](auto &&a, auto &&b) {
    {
      auto grid = make_grid(domain[0], domain[1],
                            axis<1, axis_config::offset_limit<2>>{domain[2]});

      auto GTComputationCall140003247677840 = [](auto b, auto a) {
        return multi_pass(execute_parallel().stage(
            HorizontalExecution140003247758608(), a, b));
      };

      run(GTComputationCall140003247677840, cpu_ifirst<>{}, grid,
          std::forward<decltype(b)>(b), std::forward<decltype(a)>(a));
    }
  };
}
} // namespace arccos_def_impl_

auto arccos_def(arccos_def_impl_::Domain domain) {
  return arccos_def_impl_::arccos_def(domain);
}
