#include "exec/ranks/rank_strips.hpp"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "backend/cpu/more_threads.hpp"
#include "backend/cpu/tbb_backend.hpp"
#include "exec/calibration.hpp"
#include "exec/executor.hpp"
#include "exec/ranks/division_order.hpp"
#include "exec/ranks/rank_divider.hpp"
#include "exec/ranks/rank_memory.hpp"
#include "support/error.hpp"
#include "support/long_vector.hpp"

namespace gpulog::exec {
namespace {

using backend::array;
using storage::factorized_graph;
using storage::factorized_values;

constexpr char count_task = 'c';

// First character of an answer.
constexpr char succeeded = '+';
constexpr char short_of_memory = 'm';
constexpr char failed = '-';

/// The size of the arrays that a rank needs in order to count strips.
struct count_header {
  std::uint64_t memory_limit = 0;
  std::uint64_t successors = 0;
  std::uint64_t members = 0;
  std::uint32_t components = 0;
  std::uint32_t vertices = 0;
  std::uint32_t strip_words = 0;
  std::uint32_t threads = 1;
};

/// Calls action(array, size) for each array of the graph that counting reads.
template <class Graph, class Action>
void for_each_array(Graph& graph, std::uint64_t successors, const Action& action) {
  action(graph.is_cyclic, graph.components);
  action(graph.first, graph.vertices + 1ULL);
  action(graph.successors, successors);
  action(graph.lowest, graph.vertices);
  action(graph.source_first, graph.vertices + 1ULL);
}

std::uint64_t counted_bytes(const factorized_graph& graph) {
  std::uint64_t bytes = 0;
  for_each_array(graph, graph.successors.size(),
                 [&bytes](const auto& one, std::uint64_t size) { bytes += size * sizeof(one[0]); });
  return bytes;
}

/// The part of a relation that a rank counts.
struct counted_part {
  /// @throws backend::memory_exceeded
  void allocate(const count_header& header, const std::string& spill_directory) {
    limit_memory(memory,
                 {.threads = header.threads, .memory_limit = header.memory_limit, .spill_directory = spill_directory});
    graph->components = header.components;
    graph->vertices = header.vertices;
    graph->strip_words = header.strip_words;
    for_each_array(*graph, header.successors, [this](auto& one, std::uint64_t size) { make(one, size); });
    members.resize(memory_size(header.members));
    for (factorized_values& member : members) {
      member.graph = graph;
      make(member.first, header.components + 1ULL);
      make(member.rows_in_front, graph->strips() + 1ULL);
    }
  }

  template <class T>
  void make(array<T>& one, std::uint64_t size) {
    one = array<T>(memory, size, backend::fresh_memory::anything);
  }

  backend::host_memory memory;
  std::shared_ptr<factorized_graph> graph = std::make_shared<factorized_graph>();
  std::vector<factorized_values> members;
};

/// Calls the action and returns an answer: its result, or the message of its failure.
template <class Action>
std::string answer_of(const backend::memory_resource& memory, const Action& action) {
  try {
    return succeeded + action();
  } catch (const backend::memory_exceeded& fault) {
    return short_of_memory + backend::shortage(fault, memory);
  } catch (const std::bad_alloc&) {
    return short_of_memory + std::string("the machine has too little memory");
  } catch (const std::exception& failure) {
    return failed + std::string(failure.what());
  }
}

std::string count_share(counted_part& part, const kernels::strip_share& share, unsigned threads) {
  const backend::cpu::more_threads allowed(threads);
  backend::cpu::tbb_backend workers(threads);
  kernels::count_strips(workers, part.memory, part.members, share, nullptr);
  std::string counts;
  for (const factorized_values& member : part.members) {
    for (std::uint32_t number = 0; number < share.strips(*part.graph); ++number) {
      const std::uint64_t rows = member.rows_in_front[share.process + number * share.processes + 1ULL];
      counts.append(reinterpret_cast<const char*>(&rows), sizeof(rows));
    }
  }
  return counts;
}

/// The task of a follower.
void count_for_rank_0(ranks::communicator& messages) {
  count_header header;
  messages.broadcast(&header, sizeof(header));
  const std::string spill_directory = messages.broadcast(std::string());
  counted_part part;
  static_cast<void>(messages.gather(answer_of(part.memory, [&] {
    part.allocate(header, spill_directory);
    return std::string();
  })));
  char goes_on = 0;
  messages.broadcast(&goes_on, 1);
  if (goes_on == 0) return;
  const auto receive = [&messages](auto& one, std::uint64_t size) {
    messages.broadcast(one.data(), size * sizeof(one[0]));
  };
  for_each_array(*part.graph, header.successors, receive);
  for (factorized_values& member : part.members) receive(member.first, header.components + 1ULL);
  static_cast<void>(messages.gather(answer_of(part.memory, [&] {
    return count_share(part, {messages.rank(), messages.size()}, header.threads);
  })));
}

}  // namespace

bool rank_strips::pay(double seconds, const factorized_graph& graph) const {
  const double saved = seconds * (1 - 1.0 / processes());
  const double sent_bytes = static_cast<double>(counted_bytes(graph)) * (processes() - 1);
  const double exchanged = sent_bytes / calibration::rank_bytes_per_second;
  return saved > 2 * (calibration::rank_task_seconds + exchanged);
}

std::vector<std::string> rank_strips::answers(ranks::communicator& messages) const {
  std::vector<std::string> texts = messages.gather({});
  for (unsigned rank = 1; rank < texts.size(); ++rank) {
    const std::string message = fmt::format("{}: {}", ranks_->name(rank), texts[rank].substr(1));
    if (texts[rank].front() == short_of_memory) throw memory_fault("Out of memory on " + message);
    if (texts[rank].front() == failed) throw user_error(message);
  }
  return texts;
}

void rank_strips::begin(const std::vector<factorized_values>& members) {
  const factorized_graph& graph = *members.front().graph;
  ranks::communicator& messages = ranks_->begin(count_task);
  count_header header{.memory_limit = means_.memory_limit,
                      .successors = graph.successors.size(),
                      .members = members.size(),
                      .components = graph.components,
                      .vertices = graph.vertices,
                      .strip_words = graph.strip_words,
                      .threads = means_.threads};
  messages.broadcast(&header, sizeof(header));
  static_cast<void>(messages.broadcast(means_.spill_directory));
  std::exception_ptr failure;
  try {
    static_cast<void>(answers(messages));
  } catch (...) {
    failure = std::current_exception();
  }
  char goes_on = failure ? 0 : 1;
  messages.broadcast(&goes_on, 1);
  if (failure) std::rethrow_exception(failure);
  const auto send = [&messages](const auto& one, std::uint64_t size) {
    // broadcast() writes at followers only.
    messages.broadcast(const_cast<void*>(static_cast<const void*>(one.data())), size * sizeof(one[0]));
  };
  for_each_array(graph, header.successors, send);
  for (const factorized_values& member : members) send(member.first, graph.components + 1ULL);
}

void rank_strips::end(std::vector<factorized_values>& members) {
  const std::vector<std::string> texts = answers(ranks_->messages());
  for (unsigned rank = 1; rank < texts.size(); ++rank) {
    const kernels::strip_share share{rank, processes()};
    const char* counts = texts[rank].data() + 1;
    for (factorized_values& member : members) {
      for (std::uint32_t number = 0; number < share.strips(*member.graph); ++number, counts += sizeof(std::uint64_t)) {
        std::uint64_t& rows = member.rows_in_front[share.process + number * share.processes + 1ULL];
        std::memcpy(&rows, counts, sizeof(rows));
      }
    }
  }
}

ranks::rank_group::task_table rank_tasks() {
  ranks::rank_group::task_table tasks = {{count_task, count_for_rank_0}};
  add_follower_tasks(tasks);
  return tasks;
}

}  // namespace gpulog::exec
