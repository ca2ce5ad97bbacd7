#include "backend/gpu/emulated/block_runner.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <numeric>
#include <string_view>
#include <thread>

#include "backend/gpu/emulated/settings.hpp"

namespace gpulog::backend::gpu::emulated {

namespace {

bool same_place(const meeting_place& a, const meeting_place& b) {
  return a.line == b.line && a.what == b.what && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

bool is_removed(const meeting_place& place) {
  const barrier_place& removed = removed_barrier();
  return place.line == removed.line &&
         (place.what == operation::syncthreads || place.what == operation::wave_barrier) &&
         std::string_view(place.file).ends_with(removed.file);
}

block_runner& runner_of_current(const meeting_place& place) {
  if (current->block->runner == nullptr) note_failure("nobody to meet at " + text_of(place));
  return *current->block->runner;
}

}  // namespace

void note_failure(const std::string& what) {
  block_runner* const runner = current->block->runner;
  if (runner == nullptr) throw device_error("outside of a kernel: " + what);
  runner->note_failure("thread " + std::to_string(current->index.x) + ": " + what);
}

void abandon_launch() { block_runner::own().abandon(); }

void meet_wave(const meeting_place& place) { runner_of_current(place).meet_wave(place); }
void meet_block(const meeting_place& place) { runner_of_current(place).meet_block(place); }
void pause_thread() {
  if (current->block->runner != nullptr) current->block->runner->pause();
}

block_runner& block_runner::own() {
  static thread_local block_runner runner;
  return runner;
}

block_runner::block_runner() : fibers_(&block_runner::enter) {}
block_runner::~block_runner() = default;

std::string block_runner::named(unsigned block) const {
  return std::string("kernel ") + launch_->name + ", block " + std::to_string(block) + ": ";
}

// --- fibers

void block_runner::enter(boost::context::detail::transfer_t from) {
  block_runner& runner = block_runner::own();
  fiber& own = *runner.entered_;
  arrive(own, from);
  runner.run_threads(own);
}

void block_runner::run_threads(fiber& own) {
  for (;;) {
    while (thread_record* const thread = next_to_begin()) {
      thread->state = thread_state::runs;
      thread->on = &own;
      current = thread;
      if (!run_body()) abandon();
      thread->state = thread_state::ended;
      ++ended_;
      if (prefers_ready_ && has_ready()) break;
    }
    fibers_.give_back(own);
    go_on(own);
  }
}

bool block_runner::run_body() {
  try {
    launch_->body();
    return true;
  } catch (const std::exception& thrown) {
    error_ = thrown.what();
  } catch (...) {
    error_ = "something that is no std::exception";
  }
  const thread_record& thread = *current;
  error_ = named(thread.block->index.x) + "thread " + std::to_string(thread.index.x) + " threw: " + error_;
  return false;
}

thread_record* block_runner::next_to_begin() {
  if (unbegun_ == 0) return nullptr;
  while (blocks_[beginning_]->begun == launch_->threads) ++beginning_;
  block_record& block = *blocks_[beginning_];
  unsigned at = block.first_of_order + block.begun;
  if (at >= launch_->threads) at -= launch_->threads;
  ++block.begun;
  --unbegun_;
  return &block.threads[block.order[at]];
}

void block_runner::make_ready(thread_record& thread) { ready_[ready_end_++ & (ready_.size() - 1)] = &thread; }
void block_runner::make_ready_first(thread_record& thread) { ready_[--ready_begin_ & (ready_.size() - 1)] = &thread; }

fiber* block_runner::choose() {
  if (has_ready() && (prefers_ready_ || unbegun_ == 0)) {
    thread_record* const thread = ready_[ready_begin_++ & (ready_.size() - 1)];
    thread->state = thread_state::runs;
    current = thread;
    return thread->on;
  }
  if (unbegun_ == 0) return nullptr;
  entered_ = fibers_.take();
  if (entered_ == nullptr) error_ = "the host has no memory for the stacks of a kernel's threads";
  return entered_;
}

void block_runner::go_on(fiber& own) {
  fiber* const next = choose();
  if (next != &own) switch_fibers(own, next == nullptr ? main_ : *next);
}

void block_runner::abandon() {
  fiber given_up;
  for (;;) switch_fibers(given_up, main_);
}

void block_runner::note_failure(const std::string& what) { error_ = named(current->block->index.x) + what; }

// --- meeting

void block_runner::note_apart(const meeting_place& known, const meeting_place& own, bool in_wave) {
  const thread_record& late = *current;
  std::vector<unsigned> waiting;
  for (unsigned t = 0; t < late.block->threads.size(); ++t) {
    const thread_record& other = late.block->threads[t];
    if (in_wave ? other.wave == late.wave && other.state == thread_state::waits_for_wave
                : other.state == thread_state::waits_for_block)
      waiting.push_back(t);
  }
  note_failure(listed(waiting) + (waiting.size() == 1 ? " waits at " : " wait at ") + text_of(known) + "; thread " +
               std::to_string(late.index.x) + " waits at " + text_of(own));
}

void block_runner::meet_wave(const meeting_place& place) {
  if (is_removed(place)) return;
  thread_record& own = *current;
  wave_record& wave = *own.wave;
  ++progress_;
  if (wave.arrived == 0) {
    wave.place = place;
  } else if (!same_place(wave.place, place)) {
    note_apart(wave.place, place, true);
    abandon();
  }
  own.state = thread_state::waits_for_wave;
  if (++wave.arrived == wave.lanes) {
    release(wave, *own.block, own);
    if (launch_->seed != 0) return;
  }
  go_on(*own.on);
}

void block_runner::release(wave_record& wave, block_record& block, const thread_record& last) {
  wave.arrived = 0;
  wave.turn ^= 1;
  wave.votes[wave.turn] = 0;
  block.random = mixed(block.random);
  const std::uint16_t* const lanes = order_->of_wave(block.random);
  const auto first = static_cast<unsigned>(launch_->seed == 0 ? 0 : below(wave_lanes, block.random));
  for (unsigned i = 0; i < wave_lanes; ++i) {
    const unsigned lane = lanes[(first + i) % wave_lanes];
    if (lane >= wave.lanes) continue;
    thread_record& thread = block.threads[wave.first_thread + lane];
    thread.state = thread_state::runs;
    // The last thread to arrive continues at once, except with seed 0, where threads run in the order of their numbers.
    if (&thread == &last && launch_->seed != 0) continue;
    if (block.waves_run_ahead) {
      make_ready_first(thread);
    } else {
      make_ready(thread);
    }
  }
}

void block_runner::meet_block(const meeting_place& place) {
  if (is_removed(place)) return;
  thread_record& own = *current;
  block_record& block = *own.block;
  ++progress_;
  if (block.arrived == 0) {
    block.place = place;
  } else if (!same_place(block.place, place)) {
    note_apart(block.place, place, false);
    abandon();
  }
  own.state = thread_state::waits_for_block;
  if (++block.arrived == launch_->threads) {
    release(block, own);
    if (launch_->seed != 0) return;
  }
  go_on(*own.on);
}

void block_runner::release(block_record& block, const thread_record& last) {
  block.arrived = 0;
  block.turn ^= 1;
  block.votes[block.turn] = 0;
  block.random = mixed(block.random);
  const std::uint16_t* const order = order_->of_block(block.random);
  unsigned at = static_cast<unsigned>(launch_->seed == 0 ? 0 : below(launch_->threads, block.random));
  for (unsigned i = 0; i < launch_->threads; ++i) {
    thread_record& thread = block.threads[order[at]];
    thread.state = thread_state::runs;
    if (&thread != &last || launch_->seed == 0) make_ready(thread);
    if (++at == launch_->threads) at = 0;
  }
}

void block_runner::pause() {
  thread_record& own = *current;
  own.state = thread_state::pauses;
  paused_.push_back(&own);
  go_on(*own.on);
}

/// Makes all paused threads ready.
/// @return false if the paused threads have waited too long without progress
bool block_runner::may_go_on_after_pause() {
  constexpr std::uint64_t most_rounds = 100'000;
  constexpr std::chrono::seconds patience{5};
  if (progress_ + ended_ != paused_progress_) {
    paused_progress_ = progress_ + ended_;
    paused_rounds_ = 0;
  }
  ++paused_rounds_;
  if (paused_rounds_ >= most_rounds) {
    // A block on a different host thread may still provide the awaited value.
    if (launch_->active_blocks.load(std::memory_order_relaxed) <= count_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (paused_rounds_ == most_rounds) patience_end_ = now + patience;
    if (now > patience_end_) return false;
  }
  if (launch_->active_blocks.load(std::memory_order_relaxed) > count_) std::this_thread::yield();
  for (thread_record* const thread : paused_) make_ready(*thread);
  paused_.clear();
  return true;
}

// --- blocks

void block_runner::begin(block_record& block, unsigned number) {
  const unsigned threads = launch_->threads;
  if (block.threads.size() != threads) {
    block.threads.assign(threads, thread_record{});
    block.waves.assign((threads + wave_lanes - 1) / wave_lanes, wave_record{});
    for (unsigned w = 0; w < block.waves.size(); ++w) {
      wave_record& wave = block.waves[w];
      wave.first_thread = w * wave_lanes;
      wave.lanes = std::min(wave_lanes, threads - wave.first_thread);
      // The values that a kernel reads from lanes that do not exist.
      std::memset(wave.values, fresh_byte, sizeof wave.values);
    }
    for (unsigned t = 0; t < threads; ++t) {
      block.threads[t].index.x = t;
      block.threads[t].block = &block;
      block.threads[t].wave = &block.waves[t / wave_lanes];
    }
    block.size.x = threads;
  }
  block.runner = this;
  block.index.x = number;
  block.grid.x = launch_->blocks;
  block.random = mixed(launch_->seed ^ mixed(launch_->number ^ mixed(number)));
  block.order = order_->of_block(block.random);
  block.first_of_order = static_cast<unsigned>(launch_->seed == 0 ? 0 : below(threads, block.random));
  block.waves_run_ahead = launch_->seed != 0 && (block.random & 1) != 0;
  block.begun = 0;
  block.shared.begin(launch_->shared_bytes);
}

void block_runner::finish_blocks() {
  for (unsigned b = 0; b < count_; ++b) {
    const std::string found = blocks_[b]->shared.finish();
    if (!found.empty() && error_.empty())
      error_ = named(blocks_[b]->index.x) + "it wrote out of bounds in shared memory, " + found;
  }
}

void block_runner::run(kernel_launch& launch, const unsigned* blocks, unsigned count) {
  launch_ = &launch;
  count_ = count;
  if (orders_seed_ != launch.seed) orders_.clear();
  orders_seed_ = launch.seed;
  order_ = &orders_.try_emplace(launch.threads, launch.threads, launch.seed).first->second;
  while (blocks_.size() < count) blocks_.push_back(std::make_unique<block_record>());
  for (unsigned b = 0; b < count; ++b) begin(*blocks_[b], blocks[b]);
  beginning_ = 0;
  unbegun_ = std::uint64_t{count} * launch.threads;
  const std::uint64_t all = unbegun_;
  ended_ = 0;
  ready_begin_ = ready_end_ = 0;
  if (ready_.size() < all) ready_.resize(std::bit_ceil(all));
  paused_.clear();
  paused_rounds_ = 0;
  error_.clear();
  prefers_ready_ = (mixed(blocks_[0]->random) & 1) != 0;
  launch.active_blocks += count;
  while (error_.empty() && ended_ != all) {
    fiber* const next = choose();
    if (next != nullptr) {
      switch_fibers(main_, *next);
    } else if (error_.empty() && (paused_.empty() || !may_go_on_after_pause())) {
      unsigned stuck = 0;
      for (unsigned b = 0; b < count; ++b) {
        const std::string text = who_waits(*blocks_[b]);
        if (text.empty()) continue;
        if (error_.empty()) error_ = named(blocks_[b]->index.x) + text;
        ++stuck;
      }
      if (stuck > 1) error_ += "; blocks that wait: " + std::to_string(stuck);
    }
  }
  launch.active_blocks -= count;
  current = &no_thread;
  finish_blocks();
  if (error_.empty()) return;
  fibers_.reset();
  blocks_.clear();
  throw device_error(error_ + " (launched at " + launch.site.file + ":" + std::to_string(launch.site.line) + ")");
}

// --- orders

thread_orders::thread_orders(unsigned threads, std::uint64_t seed)
    : threads_(threads), block_(std::size_t{choices} * threads), wave_(std::size_t{choices} * wave_lanes) {
  std::uint64_t random = mixed(seed ^ mixed(threads));
  const auto shuffle = [&](std::uint16_t* begin, std::uint64_t n) {
    for (std::uint64_t i = n; i > 1; --i) {
      random = mixed(random);
      std::swap(begin[i - 1], begin[below(i, random)]);
    }
  };
  for (unsigned c = 0; c < choices; ++c) {
    std::uint16_t* const lanes = wave_.data() + std::size_t{c} * wave_lanes;
    std::iota(lanes, lanes + wave_lanes, std::uint16_t{0});
    std::uint16_t* const order = block_.data() + std::size_t{c} * threads;
    std::iota(order, order + threads, std::uint16_t{0});
    if (seed == 0) continue;
    shuffle(lanes, wave_lanes);
    if (c == 0) {
      shuffle(order, threads);
      continue;
    }
    // Wave by wave, so that a wave runs far ahead of the rest.
    const std::uint64_t waves = threads / wave_lanes;
    std::vector<std::uint16_t> numbers(waves);
    std::iota(numbers.begin(), numbers.end(), std::uint16_t{0});
    shuffle(numbers.data(), waves);
    for (std::uint64_t w = 0; w < waves; ++w) {
      std::iota(order + w * wave_lanes, order + (w + 1) * wave_lanes,
                static_cast<std::uint16_t>(numbers[w] * wave_lanes));
      shuffle(order + w * wave_lanes, wave_lanes);
    }
    shuffle(order + waves * wave_lanes, threads - waves * wave_lanes);
  }
}

const std::uint16_t* thread_orders::of_block(std::uint64_t random) const {
  return block_.data() + random % choices * threads_;
}
const std::uint16_t* thread_orders::of_wave(std::uint64_t random) const {
  return wave_.data() + random % choices * wave_lanes;
}

}  // namespace gpulog::backend::gpu::emulated
