#include <cstring>
#include <string>
#include <vector>

#include "backend/gpu/emulated/block_runner.hpp"
#include "support/value_table.hpp"

/// Messages about threads that wait for each other forever.
namespace gpulog::backend::gpu::emulated {

namespace {

const char* name_of(operation what) {
  using enum operation;
  static constexpr entry<operation, const char*> table[] = {
      {syncthreads, "__syncthreads"}, {syncthreads_or, "__syncthreads_or"},
      {wave_barrier, "wave_barrier"}, {ballot, "ballot"},
      {any_lane, "any_lane"},         {all_lanes, "all_lanes"},
      {shuffle, "shuffle"},           {shuffle_up, "shuffle_up"},
      {shuffle_xor, "shuffle_xor"},   {lanes_with, "lanes_with"}};
  static_assert(has_all(table, lanes_with));
  return find_in(table, what).value();
}

/// Threads in the same state.
struct group {
  std::string what;  ///< completes "wait ..."
  std::vector<unsigned> threads;
};

void add(std::vector<group>& groups, const std::string& what, unsigned thread) {
  for (group& known : groups) {
    if (known.what != what) continue;
    known.threads.push_back(thread);
    return;
  }
  groups.push_back({what, {thread}});
}

}  // namespace

std::string listed(const std::vector<unsigned>& threads) {
  std::string text = threads.size() == 1 ? "thread " : "threads ";
  constexpr unsigned most_ranges = 8;
  unsigned ranges = 0;
  for (std::size_t begin = 0; begin < threads.size();) {
    std::size_t last = begin;
    while (last + 1 < threads.size() && threads[last + 1] == threads[last] + 1) ++last;
    if (++ranges > most_ranges) return text + ", ...";
    if (begin != 0) text += ", ";
    text += std::to_string(threads[begin]);
    if (last != begin) text += "-" + std::to_string(threads[last]);
    begin = last + 1;
  }
  return text;
}

std::string text_of(const meeting_place& place) {
  const char* const slash = std::strrchr(place.file, '/');
  const std::string file = slash == nullptr ? place.file : slash + 1;
  return file + ":" + std::to_string(place.line) + " (" + name_of(place.what) + ")";
}

std::string who_waits(const block_record& block) {
  std::vector<group> waiting;
  std::vector<unsigned> ended;  // ended threads that a barrier still needs
  for (unsigned t = 0; t < block.threads.size(); ++t) {
    const thread_record& thread = block.threads[t];
    switch (thread.state) {
      case thread_state::waits_for_wave:
        add(waiting, " at " + text_of(thread.wave->place), t);
        break;
      case thread_state::waits_for_block:
        add(waiting, " at " + text_of(block.place), t);
        break;
      case thread_state::pauses:
        add(waiting, " for something that never happens (pause)", t);
        break;
      case thread_state::ended:
        if (block.arrived != 0 || thread.wave->arrived != 0) ended.push_back(t);
        break;
      case thread_state::not_begun:
      case thread_state::runs:
        break;
    }
  }
  if (waiting.empty()) return {};
  std::string text;
  constexpr std::size_t most_groups = 5;
  for (std::size_t g = 0; g < waiting.size() && g < most_groups; ++g) {
    if (g != 0) text += "; ";
    text += listed(waiting[g].threads) + (waiting[g].threads.size() == 1 ? " waits" : " wait") + waiting[g].what;
  }
  if (waiting.size() > most_groups) text += "; others wait elsewhere";
  if (ended.empty()) return text;
  const char* const verb = ended.size() == 1 ? "has ended" : "have ended";
  if (waiting.size() == 1) return text + " for " + listed(ended) + ", which " + verb;
  return text + "; " + listed(ended) + " " + verb;
}

}  // namespace gpulog::backend::gpu::emulated
