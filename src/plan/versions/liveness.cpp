#include "plan/versions/liveness.hpp"

namespace gpulog::plan {
namespace {

void append_slots(std::vector<slot_id>& slots, const std::vector<operand>& operands) {
  for (const operand& value : operands) {
    if (!value.is_constant) slots.emplace_back(value.value);
  }
}

struct reads {
  std::vector<slot_id> slots;
  void operator()(const scan&) {}
  void operator()(const match& op) {
    append_slots(slots, op.keys);
    for (const other_search& other : op.others) append_slots(slots, other.keys);
  }
  void operator()(const exists& op) { append_slots(slots, op.keys); }
  void operator()(const compute& op) { append_slots(slots, op.arguments); }
  void operator()(const filter& op) { append_slots(slots, {op.left, op.right}); }
  void operator()(const pack& op) { append_slots(slots, op.fields); }
  void operator()(const unpack& op) { append_slots(slots, {op.record}); }
  void operator()(const generate& op) { append_slots(slots, op.arguments); }
  void operator()(const fold_begin&) {}
  void operator()(const fold_end& op) { append_slots(slots, {op.value}); }
  void operator()(const insert& op) { append_slots(slots, op.values); }
};

}  // namespace

bool is_loop(const operation& op) {
  return std::holds_alternative<scan>(op) || std::holds_alternative<match>(op) ||
         std::holds_alternative<generate>(op) || std::holds_alternative<fold_begin>(op) ||
         std::holds_alternative<fold_end>(op);
}

std::vector<slot_id> slots_read(const operation& op) {
  reads collector;
  std::visit(collector, op);
  return std::move(collector.slots);
}

std::vector<slot_id> slots_written(const operation& op) {
  std::vector<slot_id> slots;
  const auto append = [&slots](const std::vector<column_binding>& bindings) {
    for (const column_binding& binding : bindings) slots.push_back(binding.slot);
  };
  if (const auto* generator = std::get_if<scan>(&op)) append(generator->bindings);
  if (const auto* generator = std::get_if<match>(&op)) append(generator->bindings);
  if (const auto* computed = std::get_if<compute>(&op)) slots.push_back(computed->result);
  if (const auto* generated = std::get_if<generate>(&op)) slots.push_back(generated->result);
  if (const auto* folded = std::get_if<fold_end>(&op)) slots.push_back(folded->result);
  if (const auto* packed = std::get_if<pack>(&op)) slots.push_back(packed->result);
  if (const auto* unpacked = std::get_if<unpack>(&op)) {
    for (const field_binding& binding : unpacked->bindings) slots.push_back(binding.slot);
  }
  return slots;
}

}  // namespace gpulog::plan
