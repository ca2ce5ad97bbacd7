#include "exec/cuda/cuda_executor.hpp"

#include "backend/cuda/device.hpp"
#include "exec/cuda/cuda_machine.hpp"
#include "exec/cuda/hisa_executor.hpp"
#include "exec/fixpoint.hpp"
#include "kernels/cuda/device_loop.hpp"

namespace gpulog::exec {

namespace {

/// Owns the device; its memory goes before it.
class cuda_executor final : public stratum_executor {
 public:
  cuda_executor(const plan::program& program, storage::symbol_table& symbols, const options& chosen, int device,
                std::uint64_t memory_limit)
      : context_(device), memory_(context_, memory_limit), records_(context_, memory_) {
    if (chosen.storage == storage::storage_mode::hisa) {
      running_ = make_hisa_executor(program, symbols, chosen, context_, memory_);
    } else {
      running_ = std::make_unique<fixpoint_executor<cuda_machine>>(program, symbols, memory_, chosen, context_, memory_,
                                                                   records_, chosen.threads, chosen.cut);
    }
  }

  void load(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    running_->load(relation, columns, rows);
  }
  void evaluate() override {
    running_->evaluate();
    records_.bring_to_host();
  }
  [[nodiscard]] std::optional<stopped_recursion> run_until(std::size_t number, const stratum_stops& stops) override {
    auto stopped = running_->run_until(number, stops);
    records_.bring_to_host();
    return stopped;
  }
  void adopt_running(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows,
                     std::uint64_t old_rows) override {
    running_->adopt_running(relation, columns, rows, old_rows);
  }
  [[nodiscard]] std::uint64_t old_rows(relation_id relation) const override { return running_->old_rows(relation); }
  void resume_stratum(std::size_t number, const stopped_recursion& from) override {
    running_->resume_stratum(number, from);
    records_.bring_to_host();
  }
  void skip_stratum(std::size_t number) override { running_->skip_stratum(number); }
  void adopt(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    running_->adopt(relation, columns, rows);
  }
  void release(relation_id relation) override { running_->release(relation); }
  void forget_columns(relation_id relation) override { running_->forget_columns(relation); }
  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override { return running_->columns(relation); }
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows(relation_id relation) override {
    return running_->stream_rows(relation);
  }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return running_->rows(relation); }
  [[nodiscard]] const statistics& figures() override { return running_->figures(); }

 private:
  backend::cuda::device_context context_;
  backend::cuda::device_memory memory_;
  device_record_tables records_;
  std::unique_ptr<stratum_executor> running_;
};

}  // namespace

std::string why_no_cuda_device(int device) { return backend::cuda::why_not_available(device); }
void prepare_cuda_start() { backend::cuda::load_kernels_at_start(); }
bool has_cuda_driver() { return backend::cuda::has_driver(); }
std::string start_cuda_device(int device) {
  std::string reason = backend::cuda::start_device(device);
  if (reason.empty()) kernels::cuda::load_loop();
  return reason;
}

std::unique_ptr<stratum_executor> make_cuda_executor(const plan::program& program, storage::symbol_table& symbols,
                                                     const options& chosen, int device, std::uint64_t memory_limit) {
  return std::make_unique<cuda_executor>(program, symbols, chosen, device, memory_limit);
}

}  // namespace gpulog::exec
