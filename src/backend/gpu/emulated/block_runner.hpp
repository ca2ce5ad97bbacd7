#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/gpu/emulated/fibers.hpp"
#include "backend/gpu/emulated/records.hpp"
#include "backend/gpu/vendor.hpp"

/// Runs the blocks of a kernel: each thread of a block is a function call on a fiber, which is suspended at barriers
/// and wave operations.
namespace gpulog::backend::gpu::emulated {

struct kernel_launch {
  const char* name;
  unsigned blocks;
  unsigned threads;  ///< per block
  std::uint64_t shared_bytes;
  bool is_cooperative;
  std::function<void()> body;  ///< executed by each thread
  call_site site;
  std::uint64_t number = 0;  ///< launch number
  std::uint64_t seed = 0;
  std::atomic<unsigned> active_blocks{0};
};

/// Runs all blocks, on several host threads if the kernel is not cooperative.
/// @throws device_error
void run_kernel(kernel_launch& launch);

/// Orders in which the threads of a block are scheduled.
class thread_orders {
 public:
  thread_orders(unsigned threads, std::uint64_t seed);
  [[nodiscard]] const std::uint16_t* of_block(std::uint64_t random) const;
  [[nodiscard]] const std::uint16_t* of_wave(std::uint64_t random) const;

 private:
  static constexpr unsigned choices = 4;
  unsigned threads_;
  std::vector<std::uint16_t> block_;  // [choice][thread]
  std::vector<std::uint16_t> wave_;   // [choice][lane]
};

class block_runner {
 public:
  /// Returns the runner of the calling host thread.
  static block_runner& own();
  ~block_runner();
  block_runner(const block_runner&) = delete;
  block_runner& operator=(const block_runner&) = delete;

  /// Runs blocks until all threads have ended. Blocks may wait for each other.
  /// @throws device_error
  void run(kernel_launch& launch, const unsigned* blocks, unsigned count);

  // Called by threads of a kernel.
  void meet_wave(const meeting_place& place);
  void meet_block(const meeting_place& place);
  void pause();
  void note_failure(const std::string& what);
  [[noreturn]] void abandon();

  [[nodiscard]] const kernel_launch* launch() const { return launch_; }

 private:
  block_runner();
  static void enter(boost::context::detail::transfer_t from);
  [[noreturn]] void run_threads(fiber& own);
  [[nodiscard]] bool run_body();
  void begin(block_record& block, unsigned number);
  void finish_blocks();
  [[nodiscard]] thread_record* next_to_begin();
  [[nodiscard]] bool has_ready() const { return ready_begin_ != ready_end_; }
  void make_ready(thread_record& thread);        // runs after all ready threads
  void make_ready_first(thread_record& thread);  // runs before all ready threads
  /// Returns the next fiber to run, or nullptr if at most paused threads could continue.
  [[nodiscard]] fiber* choose();
  void go_on(fiber& own);
  void release(wave_record& wave, block_record& block, const thread_record& last);
  void release(block_record& block, const thread_record& last);
  void note_apart(const meeting_place& known, const meeting_place& own, bool in_wave);
  [[nodiscard]] bool may_go_on_after_pause();
  [[nodiscard]] std::string named(unsigned block) const;

  fiber_pool fibers_;
  signal_stack signals_;
  fiber main_;
  fiber* entered_ = nullptr;  // the target of a switch to a fresh fiber
  kernel_launch* launch_ = nullptr;
  std::vector<std::unique_ptr<block_record>> blocks_;
  unsigned count_ = 0;      // number of blocks in the current run
  unsigned beginning_ = 0;  // the block whose threads are being started
  std::uint64_t unbegun_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t progress_ = 0;         // grows whenever a thread does anything except pause
  bool prefers_ready_ = false;         // rather than threads that have not started
  std::vector<thread_record*> ready_;  // a ring buffer
  std::uint64_t ready_begin_ = 0;
  std::uint64_t ready_end_ = 0;
  std::vector<thread_record*> paused_;
  std::uint64_t paused_progress_ = 0;
  std::uint64_t paused_rounds_ = 0;
  std::chrono::steady_clock::time_point patience_end_;
  std::string error_;
  std::uint64_t orders_seed_ = 0;
  std::map<unsigned, thread_orders> orders_;  // by threads per block
  const thread_orders* order_ = nullptr;
};

// Formatting of messages (meeting_report.cpp).
/// Returns a list such as "threads 0-30, 33".
[[nodiscard]] std::string listed(const std::vector<unsigned>& threads);
/// Returns a text such as "rows.cuh:124 (shuffle)".
[[nodiscard]] std::string text_of(const meeting_place& place);
/// Describes a deadlock in a block: which threads wait, and where. Returns an empty text if no thread waits.
[[nodiscard]] std::string who_waits(const block_record& block);

}  // namespace gpulog::backend::gpu::emulated
