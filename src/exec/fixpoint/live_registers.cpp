#include "exec/fixpoint/live_registers.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace gpulog::exec {

namespace {

using kernels::expansion_kind;
using kernels::register_number;
using kernels::step_kind;
using register_set = std::set<register_number>;

/// Traverses a pipeline from its end.
class live_register_search {
 public:
  explicit live_register_search(kernels::pipeline& program) : program_(program) {}

  void run() {
    register_set live;
    read(live, program_.head);
    std::vector<register_set> behind;  // by enclosing fold of s: registers read after the fold
    for (std::size_t s = program_.segments.size(); s-- > 0;) {
      kernels::segment& here = program_.segments[s];
      if (here.ended_fold != 0) {
        live = {program_.segments[here.ended_fold].owner};
        read(live, {here.folded, here.upper_folded});
      }
      for (std::size_t i = here.steps.size(); i-- > 0;) {
        kernels::step& one = here.steps[i];
        one.live.assign(live.begin(), live.end());
        const bool has_result =
            one.kind == step_kind::compute || one.kind == step_kind::pack || one.kind == step_kind::find_record;
        if (has_result) {
          live.erase(one.result);
          live.erase(one.upper_result);
        }
        for (const kernels::binding& field : one.bindings) live.erase(field.target);
        read(live, one.arguments);
        read(live, one.upper);
      }
      if (!here.choices.empty()) live = live_before_checks(here.choices, live);
      for (const kernels::binding& binding : here.bindings) live.erase(binding.target);
      live.erase(here.upper_value);
      if (here.kind == expansion_kind::unfold) live.erase(here.result);
      if (here.kind == expansion_kind::fold) live.erase(here.owner);
      here.carried.assign(live.begin(), live.end());
      if (here.kind == expansion_kind::unfold) behind.push_back(live);
      if (here.kind == expansion_kind::fold) {
        live.merge(behind.back());
        behind.pop_back();
      }
      read(live, here.keys);
      for (const kernels::search_choice& choice : here.choices) read(live, choice.keys);
      read(live, here.upper_keys);
    }
  }

 private:
  void read(register_set& live, const std::vector<register_number>& registers) const {
    for (register_number number : registers) {
      if (number < program_.slot_count) live.insert(number);
    }
  }

  register_set live_before_checks(std::vector<kernels::search_choice>& choices, const register_set& behind) const {
    register_set before = behind;
    for (kernels::search_choice& choice : choices) {
      register_set live = behind;
      for (std::size_t i = choice.checks.size(); i-- > 0;) {
        choice.checks[i].live.assign(live.begin(), live.end());
        read(live, choice.checks[i].arguments);
      }
      before.merge(live);
    }
    return before;
  }

  kernels::pipeline& program_;
};

}  // namespace

void find_live_registers(kernels::pipeline& program) { live_register_search(program).run(); }

}  // namespace gpulog::exec
