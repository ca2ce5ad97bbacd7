#include "exec/cuda/cuda_executor.hpp"

#include <variant>

#include "backend/cuda/device.hpp"
#include "exec/cuda/cuda_machine.hpp"

namespace gpulog::exec {

namespace {

/// Owns the device; its memory goes before it.
class cuda_executor final : public executor {
 public:
  cuda_executor(const plan::program& program, storage::symbol_table& symbols, const options& chosen, int device,
                std::uint64_t memory_limit)
      : context_(device), memory_(context_, memory_limit) {
    running_ = std::make_unique<fixpoint_executor<cuda_machine>>(program, symbols, memory_, chosen, context_, memory_);
  }

  void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    running_->load(relation, columns, rows);
  }
  void evaluate() override { running_->evaluate(); }
  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override { return running_->columns(relation); }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return running_->rows(relation); }
  [[nodiscard]] const statistics& figures() override { return running_->figures(); }

 private:
  backend::cuda::device_context context_;
  backend::cuda::device_memory memory_;
  std::unique_ptr<fixpoint_executor<cuda_machine>> running_;
};

bool on_text(scalar_op op) { return op >= scalar_op::min_symbol; }
bool on_text(comparison_op op) { return op >= comparison_op::less_symbol; }

}  // namespace

std::string why_not_on_cuda(const plan::program& program, const options& chosen) {
  if (chosen.storage == storage::storage_mode::hisa) return "--storage hisa is not built for CUDA yet";
  for (const plan::relation& planned : program.relations) {
    if (!planned.choice_domains.empty()) return "relation " + planned.name + " has a choice-domain";
  }
  const auto find = [](const plan::rule_version& version) -> std::string {
    if (version.slot_count > 200) return "a rule with more than 200 variables:\n" + version.text;
    for (const plan::operation& operation : version.operations) {
      const bool has_kernel =
          std::holds_alternative<plan::scan>(operation) || std::holds_alternative<plan::match>(operation) ||
          std::holds_alternative<plan::exists>(operation) || std::holds_alternative<plan::compute>(operation) ||
          std::holds_alternative<plan::filter>(operation) || std::holds_alternative<plan::insert>(operation);
      if (!has_kernel) return "a rule has an operator without a kernel:\n" + version.text;
      const auto* compute = std::get_if<plan::compute>(&operation);
      const auto* filter = std::get_if<plan::filter>(&operation);
      if (std::holds_alternative<plan::pack>(operation) || std::holds_alternative<plan::unpack>(operation)) {
        return "a rule works on records:\n" + version.text;
      }
      if ((compute != nullptr && on_text(compute->op)) || (filter != nullptr && on_text(filter->op))) {
        return "a rule works on texts:\n" + version.text;
      }
    }
    return {};
  };
  for (const plan::stratum& stratum : program.strata) {
    for (const auto& version : stratum.once.versions) {
      if (std::string reason = find(version); !reason.empty()) return reason;
    }
    for (const auto& phase : stratum.loop) {
      for (const auto& version : phase.versions) {
        if (std::string reason = find(version); !reason.empty()) return reason;
      }
    }
  }
  return {};
}

std::string why_no_cuda_device(int device) { return backend::cuda::why_not_available(device); }

std::unique_ptr<executor> make_cuda_executor(const plan::program& program, storage::symbol_table& symbols,
                                             const options& chosen, int device, std::uint64_t memory_limit) {
  return std::make_unique<cuda_executor>(program, symbols, chosen, device, memory_limit);
}

}  // namespace gpulog::exec
