#include "exec/fixpoint/register_allocation.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace gpulog::exec {

namespace {

using kernels::expansion_kind;
using kernels::register_number;
using kernels::step_kind;

/// Calls visit(number, place) for each register that is read, written or kept; places ascend along the pipeline.
template <class Visit>
class register_walk {
 public:
  register_walk(kernels::pipeline& program, const Visit& visit) : program_(program), visit_(visit) {}

  void run() {
    for (kernels::segment& here : program_.segments) {
      see_expansion(here);
      for (kernels::step& one : here.steps) {
        ++place_;
        see(one);
      }
      ++place_;
      if (here.ended_fold != 0) {
        see(here.folded);
        see(here.upper_folded);
      }
    }
    see(program_.head);
  }

 private:
  void see(register_number& number) {
    if (number != kernels::no_register) visit_(number, place_);
  }
  void see(std::vector<register_number>& numbers) {
    for (register_number& number : numbers) see(number);
  }
  void see(std::vector<kernels::binding>& bindings) {
    for (kernels::binding& bound : bindings) see(bound.target);
  }

  void see(kernels::window::known_value& known) {
    see(known.value);
    see(known.upper);
  }

  void see(kernels::step& one) {
    see(one.arguments);
    see(one.upper);
    see(one.bindings);
    see(one.live);
    const bool has_result =
        one.kind == step_kind::compute || one.kind == step_kind::pack || one.kind == step_kind::find_record;
    if (!has_result) return;
    see(one.result);
    see(one.upper_result);
  }

  void see_expansion(kernels::segment& here) {
    see(here.carried);
    see(here.keys);
    see(here.upper_keys);
    see(here.bindings);
    see(here.upper_value);
    if (here.kind == expansion_kind::fold) see(here.owner);
    if (here.kind == expansion_kind::unfold) see(here.result);
    for (kernels::window::bound& bound : here.limits.bounds) {
      see(bound.value);
      for (kernels::window::summand& one : bound.summands) see(one.value);
    }
    for (kernels::search_choice& choice : here.choices) {
      see(choice.keys);
      see(choice.bound.target);
      for (kernels::step& check : choice.checks) see(check);
    }
  }

  kernels::pipeline& program_;
  const Visit& visit_;
  std::uint32_t place_ = 0;
};

template <class Visit>
void for_each_register(kernels::pipeline& program, const Visit& visit) {
  register_walk<Visit>(program, visit).run();
}

/// The first and the last place at which a register is needed.
struct lifetime {
  register_number number = 0;
  std::uint32_t begin = UINT32_MAX;
  std::uint32_t end = 0;
};

std::vector<lifetime> lifetimes_of(kernels::pipeline& program) {
  std::vector<lifetime> all(program.slot_count);
  for_each_register(program, [&](register_number number, std::uint32_t place) {
    if (number >= program.slot_count) return;
    lifetime& lifetime_of = all[number];
    lifetime_of = {number, std::min(lifetime_of.begin, place), std::max(lifetime_of.end, place)};
  });
  std::erase_if(all, [](const lifetime& one) { return one.begin == UINT32_MAX; });
  std::sort(all.begin(), all.end(), [](const lifetime& a, const lifetime& b) {
    return std::pair(a.begin, a.number) < std::pair(b.begin, b.number);
  });
  return all;
}

template <class T>
using smallest_first = std::priority_queue<T, std::vector<T>, std::greater<>>;

}  // namespace

void share_registers(kernels::pipeline& program) {
  std::vector<register_number> shared(program.slot_count, 0);
  smallest_first<register_number> unused;
  smallest_first<std::pair<std::uint32_t, register_number>> taken;  // by the last place
  register_number count = 0;
  for (const lifetime& one : lifetimes_of(program)) {
    for (; !taken.empty() && taken.top().first < one.begin; taken.pop()) unused.push(taken.top().second);
    if (unused.empty()) unused.push(count++);
    shared[one.number] = unused.top();
    unused.pop();
    taken.emplace(one.end, shared[one.number]);
  }
  const register_number slots = program.slot_count;
  for_each_register(program, [&](register_number& number, std::uint32_t /*place*/) {
    number = number < slots ? shared[number] : number - slots + count;
  });
  program.slot_count = count;
}

}  // namespace gpulog::exec
