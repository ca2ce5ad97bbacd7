#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/gpu/emulated/shared_memory.hpp"

/// What a thread of a kernel can ask about itself, its wave and its block.
namespace gpulog::backend::gpu::emulated {

constexpr unsigned wave_lanes = GPULOG_WAVE_SIZE;
static_assert(wave_lanes == 32 || wave_lanes == 64, "GPULOG_WAVE_SIZE is 32 or 64");

class block_runner;
struct fiber;

/// What threadIdx and its like are; kernels have one dimension.
struct dimensions {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;
};

/// What threads meet for.
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

/// Threads that run in step. What they exchange has two places, used in turn: the last lane reads a result while the
/// first one is already at the next meeting.
struct wave_record {
  unsigned lanes = 0;  ///< that there are: the last wave of a block may have fewer than the others
  unsigned arrived = 0;
  unsigned turn = 0;  ///< 0 or 1: the places that the next meeting uses
  unsigned first_thread = 0;
  meeting_place place;  ///< where those that arrived wait
  std::uint64_t votes[2] = {};
  std::uint64_t values[2][wave_lanes] = {};
};

struct block_record;

struct thread_record {
  dimensions index;
  thread_state state = thread_state::not_begun;
  block_record* block = nullptr;
  wave_record* wave = nullptr;
  fiber* on = nullptr;  ///< where it waits
};

struct block_record {
  dimensions index;
  dimensions size{1, 1, 1};
  dimensions grid{1, 1, 1};
  block_runner* runner = nullptr;  ///< none: no kernel runs
  shared_memory shared;

  unsigned arrived = 0;
  unsigned turn = 0;    ///< as of a wave
  meeting_place place;  ///< where those that arrived wait
  int votes[2] = {};

  std::uint64_t random = 0;              ///< what the next order is made from
  const std::uint16_t* order = nullptr;  ///< of all threads
  unsigned first_of_order = 0;           ///< where in it the block begins
  unsigned begun = 0;                    ///< threads
  std::vector<thread_record> threads{};  // by number
  std::vector<wave_record> waves{};      // by number
};

/// What host code is that calls functions of a device, as primitives do with their functors.
inline block_record no_block;
inline wave_record no_wave;
inline thread_record no_thread{{}, thread_state::runs, &no_block, &no_wave, nullptr};

/// The thread of a kernel that the calling thread of the host runs.
inline thread_local constinit thread_record* current = &no_thread;

// Return when all threads that have to be there have called them.
void meet_wave(const meeting_place& place);
void meet_block(const meeting_place& place);
/// Lets others go on.
void pause_thread();
/// Ends the launch that the calling thread of a kernel belongs to, in two steps, as the second one never comes back to
/// destroy what the first one needed. @throws device_error when there is no such launch
void note_failure(const std::string& what);
[[noreturn]] void abandon_launch();

}  // namespace gpulog::backend::gpu::emulated
