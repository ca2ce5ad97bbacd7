#include "exec/gpu/gpu_executor.hpp"

#include "backend/gpu/device.hpp"
#include "exec/fixpoint/fixpoint.hpp"
#include "exec/gpu/gpu_machine.hpp"
#include "exec/gpu/hisa_executor.hpp"
#include "kernels/loop/device_loop.hpp"

namespace gpulog::exec {

namespace {

/// Owns the device. Device memory is destroyed before the device.
class gpu_executor final : public stratum_executor {
 public:
  gpu_executor(const plan::program& program, storage::symbol_table& symbols, const options& chosen, int device,
               std::uint64_t memory_limit)
      : context_(device), memory_(context_, memory_limit), records_(context_, memory_) {
    if (chosen.storage == storage::storage_mode::hisa) {
      running_ = make_hisa_executor(program, symbols, chosen, context_, memory_);
    } else {
      running_ = std::make_unique<fixpoint_executor<gpu_machine>>(program, symbols, memory_, chosen, context_, memory_,
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
  void resume_stratum(std::size_t number, const stopped_recursion& from, const stratum_stops& stops) override {
    running_->resume_stratum(number, from, stops);
    records_.bring_to_host();
  }
  void append(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows) override {
    running_->append(relation, columns, rows);
  }
  std::vector<std::uint64_t> erase(relation_id relation, const std::vector<const word*>& columns,
                                   std::uint64_t rows) override {
    return running_->erase(relation, columns, rows);
  }
  void continue_stratum(std::size_t number, const stratum_stops& stops) override {
    running_->continue_stratum(number, stops);
    records_.bring_to_host();
  }
  void skip_stratum(std::size_t number) override { running_->skip_stratum(number); }
  void adopt(relation_id relation, const std::vector<const word*>& columns, std::uint64_t rows, bool lasts) override {
    running_->adopt(relation, columns, rows, lasts);
  }
  void release(relation_id relation) override { running_->release(relation); }
  void forget_columns(relation_id relation) override { running_->forget_columns(relation); }
  [[nodiscard]] std::vector<const word*> columns(relation_id relation) override { return running_->columns(relation); }
  [[nodiscard]] std::vector<const word*> appended_columns(relation_id relation, std::uint64_t tuples) override {
    return running_->appended_columns(relation, tuples);
  }
  [[nodiscard]] std::unique_ptr<row_stream> stream_rows(relation_id relation) override {
    return running_->stream_rows(relation);
  }
  [[nodiscard]] std::optional<columns_on_device> device_columns(relation_id relation) override {
    return running_->device_columns(relation);
  }
  [[nodiscard]] std::uint64_t rows(relation_id relation) const override { return running_->rows(relation); }
  [[nodiscard]] std::vector<storage::sampled_rows> sample(const std::vector<relation_id>& relations,
                                                          std::uint64_t wanted) override {
    return running_->sample(relations, wanted);
  }
  void take_over_plan(std::size_t number) override { running_->take_over_plan(number); }
  [[nodiscard]] const statistics& figures() override { return running_->figures(); }

 private:
  backend::gpu::device_context context_;
  backend::gpu::device_memory memory_;
  device_record_tables records_;
  std::unique_ptr<stratum_executor> running_;
};

}  // namespace

const char* gpu_vendor() { return backend::gpu::vendor_name(); }
const char* gpu_architectures() { return backend::gpu::built_architectures(); }
bool gpu_is_for_tests() { return backend::gpu::is_for_tests; }
std::string why_no_gpu(int device) { return backend::gpu::why_not_available(device); }
int gpu_count() {
  int count = 0;
  static_cast<void>(backend::gpu::count_devices(count));
  return count;
}
void prepare_gpu_start() { backend::gpu::load_kernels_at_start(); }
bool has_gpu_driver() { return backend::gpu::has_driver(); }
std::string start_gpu(int device) {
  std::string reason = backend::gpu::start_device(device);
  if (reason.empty()) kernels::gpu::load_loop();
  return reason;
}

std::uint64_t gpu_block_bytes(int device, bool is_started) {
  return is_started ? backend::gpu::properties_of(device).shared_bytes_per_block : backend::gpu::least_shared_bytes;
}
double gpu_bytes_per_second(int device) { return backend::gpu::properties_of(device).bytes_per_second; }

std::string copy_from_gpu(int device, const void* stream, void* into, const void* from, std::uint64_t bytes) {
  if (std::string reason = backend::gpu::start_device(device); !reason.empty()) return reason;
  try {
    backend::gpu::use_device(device);
    const auto source = static_cast<backend::gpu::stream_handle>(const_cast<void*>(stream));
    backend::gpu::copy_async(into, from, bytes, backend::gpu::direction::device_to_host, source);
    backend::gpu::synchronize(source);
  } catch (const backend::gpu::device_error& fault) {
    return fault.what();
  }
  return {};
}

std::unique_ptr<stratum_executor> make_gpu_executor(const plan::program& program, storage::symbol_table& symbols,
                                                    const options& chosen, int device, std::uint64_t memory_limit) {
  return std::make_unique<gpu_executor>(program, symbols, chosen, device, memory_limit);
}

}  // namespace gpulog::exec
