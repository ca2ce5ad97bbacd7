#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/gpu/emulated/shared_memory.hpp"

/// State of a kernel's thread, wave and block.
namespace gpulog::backend::gpu::emulated {

constexpr unsigned wave_lanes = GPULOG_WAVE_SIZE;
static_assert(wave_lanes == 32 || wave_lanes == 64, "GPULOG_WAVE_SIZE is 32 or 64");

class block_runner;
struct fiber;

/// The type of threadIdx, blockIdx and so on; kernels are one-dimensional.
struct dimensions {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};

/// Collective operations.
enum class operation : std::uint8_t {
  syncthreads,
  syncthreads_or,
  wave_barrier,
  ballot,
  any_lane,
  all_lanes,
  shuffle,
  shuffle_up,
  shuffle_xor,
  lanes_with,
};

struct meeting_place {
  const char* file = "";
  int line = 0;
  operation what = operation::syncthreads;
};

enum class thread_state : std::uint8_t { not_begun, runs, waits_for_wave, waits_for_block, pauses, ended };

/// Threads that run in lockstep. Votes and values are double-buffered: the first lane may enter the next operation
/// while the last lane still reads the previous result.
struct wave_record {
  unsigned lanes = 0;  ///< the last wave of a block may have fewer lanes than wave_lanes
  unsigned arrived = 0;
  unsigned turn = 0;  ///< 0 or 1: the buffer of the next operation
  unsigned first_thread = 0;
  meeting_place place;  ///< where the arrived lanes wait
  std::uint64_t votes[2] = {};
  std::uint64_t values[2][wave_lanes] = {};
};

struct block_record;

struct thread_record {
  dimensions index;
  thread_state state = thread_state::not_begun;
  block_record* block = nullptr;
  wave_record* wave = nullptr;
  fiber* on = nullptr;  ///< where the thread is suspended
};

struct block_record {
  dimensions index;
  dimensions size{1, 1, 1};
  dimensions grid{1, 1, 1};
  block_runner* runner = nullptr;  ///< nullptr if no kernel runs
  shared_memory shared;

  unsigned arrived = 0;
  unsigned turn = 0;    ///< as in wave_record
  meeting_place place;  ///< where the arrived threads wait
  int votes[2] = {};

  std::uint64_t random = 0;              ///< seed of the next order
  const std::uint16_t* order = nullptr;  ///< of all threads
  unsigned first_of_order = 0;           ///< where the block starts in `order`
  unsigned begun = 0;                    ///< number of started threads
  /// A wave runs to its next block barrier before another wave continues; otherwise waves advance together.
  bool waves_run_ahead = false;
  std::vector<thread_record> threads{};  // by thread number
  std::vector<wave_record> waves{};      // by wave number
};

/// Placeholders for host code that calls device functions, such as primitives with functors.
inline block_record no_block;
inline wave_record no_wave;
inline thread_record no_thread{{}, thread_state::runs, &no_block, &no_wave, nullptr};

/// The kernel thread that the calling host thread runs.
inline thread_local constinit thread_record* current = &no_thread;

// Return when all required threads have arrived.
void meet_wave(const meeting_place& place);
void meet_block(const meeting_place& place);
/// Lets the remaining threads run.
void pause_thread();
/// Aborts the launch of the calling kernel thread. Two functions, because abandon_launch() never returns to run
/// destructors of arguments.
/// @throws device_error outside a launch
void note_failure(const std::string& what);
[[noreturn]] void abandon_launch();

}  // namespace gpulog::backend::gpu::emulated
