#include "exec/fixpoint/wide_registers.hpp"

#include <cstdint>
#include <set>

#include "kernels/steps/host_steps.hpp"

namespace gpulog::exec {

using kernels::register_number;

std::vector<slot_id> slots_of_halves(const plan::rule_version& version) {
  std::vector<slot_id> slots;
  for (const plan::operation& operation : version.operations) {
    if (const auto* computed = std::get_if<plan::compute>(&operation)) {
      if (!kernels::needs_host(computed->op)) slots.push_back(computed->result);
    } else if (const auto* range = std::get_if<plan::generate>(&operation)) {
      slots.push_back(range->result);
    } else if (const auto* folded = std::get_if<plan::fold_end>(&operation)) {
      slots.push_back(folded->result);
    }
  }
  return slots;
}

register_number keys_of_searches(const plan::rule_version& version) {
  std::set<std::uint32_t> of_halves;
  for (const slot_id slot : slots_of_halves(version)) of_halves.insert(slot.value);
  register_number count = 0;
  const auto add = [&](const std::vector<plan::operand>& keys) {
    for (const plan::operand& key : keys) count += !key.is_constant && of_halves.contains(key.value) ? 1 : 0;
  };
  for (const plan::operation& operation : version.operations) {
    if (const auto* search = std::get_if<plan::match>(&operation)) add(search->keys);
    if (const auto* test = std::get_if<plan::exists>(&operation)) add(test->keys);
    if (const auto* record = std::get_if<plan::pack>(&operation)) add(record->fields);
  }
  return count;
}

register_number registers_for_wide_words(const plan::rule_version& version) {
  return static_cast<register_number>(slots_of_halves(version).size()) + keys_of_searches(version);
}

}  // namespace gpulog::exec
