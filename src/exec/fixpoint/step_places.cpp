#include "exec/fixpoint/step_places.hpp"

#include <cstdint>

namespace gpulog::exec {
namespace {

/// Returns a place where a device counts the same bindings as at `wanted`, because only computations are in between.
std::uint32_t counted_on_device(const kernels::pipeline& program, const kernels::step_counts& counts,
                                std::size_t number, std::uint32_t wanted) {
  const kernels::segment& here = program.segments[number];
  const std::uint32_t entered = counts.first[number] + 1;
  const std::uint32_t last = counts.last_place(number);
  const bool goes_on = number + 1 < program.segments.size();
  const auto is_counted = [&](std::uint32_t at) {
    return at == counts.place_of_expansion(number, !here.choices.empty()) || (at == last && goes_on);
  };
  const auto lets_all_pass = [&](std::uint32_t at) {  // for the step after a place
    return at >= entered && at < last && here.steps[at - entered].kind == kernels::step_kind::compute;
  };
  for (std::uint32_t at = wanted;; --at) {
    if (is_counted(at)) return at;
    if (at <= entered || !lets_all_pass(at - 1)) break;
  }
  for (std::uint32_t at = wanted; lets_all_pass(at); ++at) {
    if (is_counted(at + 1)) return at + 1;
  }
  return kernels::step_counts::no_place;
}

}  // namespace

std::shared_ptr<kernels::step_counts> make_step_counts(const kernels::pipeline& program,
                                                       const std::vector<step_place>& behind_operators,
                                                       bool for_device) {
  auto made = std::make_shared<kernels::step_counts>();
  std::uint32_t places = 0;
  for (const kernels::segment& one : program.segments) {
    made->first.push_back(places);
    places += static_cast<std::uint32_t>(one.steps.size()) + 2;
  }
  made->counts.resize(places);
  for (const step_place& behind : behind_operators) {
    const std::uint32_t number = made->first[behind.segment] + static_cast<std::uint32_t>(behind.step);
    made->operators.push_back(for_device ? counted_on_device(program, *made, behind.segment, number) : number);
  }
  return made;
}

}  // namespace gpulog::exec
