// Watches a network: reads events of links, and reports hosts that the gateway loses and regains.
//
//   service FILE...      each file is a feed, read by a separate thread; - is standard input
//
// A line of a feed is "up A B" or "down A B". An empty line ends a batch. A batch is applied as a whole.
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <iostream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpulog/engine.hpp"

namespace {

constexpr auto rules = R"(
  .decl link(x:symbol, y:symbol)
  .decl connected(x:symbol)
  connected("gateway").
  connected(y) :- connected(x), link(x, y).
  connected(x) :- connected(y), link(x, y).

  .decl host(x:symbol)
  host("db"). host("mail"). host("web").
  .decl lost(x:symbol)
  lost(x) :- host(x), !connected(x).
)";

struct event {
  bool is_up;
  std::string from;
  std::string to;
};
using batch = std::vector<event>;

/// Passes batches from the feed readers to the thread that owns the engine.
class batch_queue {
 public:
  explicit batch_queue(std::size_t feeds) : open_feeds_(feeds) {}

  void push(batch events) {
    const std::lock_guard lock(mutex_);
    batches_.push_back(std::move(events));
    changed_.notify_one();
  }

  void close_feed() {
    const std::lock_guard lock(mutex_);
    --open_feeds_;
    changed_.notify_one();
  }

  /// Waits for the next batch. @return false after the end of all feeds
  bool pop(batch& events) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !batches_.empty() || open_feeds_ == 0; });
    if (batches_.empty()) return false;
    events = std::move(batches_.front());
    batches_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<batch> batches_;
  std::size_t open_feeds_;
};

void read_feed(std::istream& feed, batch_queue& queue) {
  batch events;
  for (std::string line; std::getline(feed, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string from;
    std::string to;
    if (words >> kind >> from >> to && (kind == "up" || kind == "down")) {
      events.push_back({kind == "up", from, to});
    } else if (!line.empty()) {
      std::cerr << "not understood: " + line + '\n';  // one write, because other threads also write
    } else if (!events.empty()) {
      queue.push(std::exchange(events, {}));
    }
  }
  if (!events.empty()) queue.push(std::move(events));
  queue.close_feed();
}

std::set<std::string> texts_of(const gpulog::relation& relation) {
  std::set<std::string> result;
  for (const gpulog::tuple row : relation) result.emplace(row.symbol(0));
  return result;
}

/// Changes the facts, and updates the results.
void update(gpulog::engine& engine, const batch& events) {
  auto link = engine.relation("link");
  for (const event& event : events) {
    if (event.is_up) {
      link.insert({event.from, event.to});
    } else {
      link.erase({event.from, event.to});
    }
  }
  engine.evaluate();
}

/// Prints the hosts that are in exactly one of two sets of lost hosts.
void print_changes(const std::set<std::string>& before, const std::set<std::string>& after) {
  std::vector<std::string> lost;
  std::vector<std::string> found;
  std::ranges::set_difference(after, before, std::back_inserter(lost));
  std::ranges::set_difference(before, after, std::back_inserter(found));
  for (const std::string& host : lost) std::cout << "lost " << host << '\n';
  for (const std::string& host : found) std::cout << "found " << host << '\n';
}

gpulog::engine engine_of_rules() {
  gpulog::compile_options options;
  options.filled_relations = {"link"};
  const auto program = gpulog::program::from_text(rules, options);
  if (!program.ok()) throw std::runtime_error(program.report());
  return gpulog::engine(program);
}

void serve(batch_queue& queue) {
  gpulog::engine engine = engine_of_rules();
  engine.evaluate();
  std::set<std::string> lost = texts_of(engine.relation("lost"));
  print_changes({}, lost);

  for (batch events; queue.pop(events);) {
    update(engine, events);
    std::set<std::string> now = texts_of(engine.relation("lost"));
    std::cout << "after a batch of " << events.size() << '\n';
    print_changes(lost, now);
    std::cout.flush();
    lost = std::move(now);
  }
}

/// Starts one thread per feed.
std::vector<std::jthread> start_readers(const std::vector<std::string>& names, batch_queue& queue) {
  std::vector<std::jthread> readers;
  for (const std::string& name : names) {
    readers.emplace_back([&queue, name] {
      if (name == "-") {
        read_feed(std::cin, queue);
        return;
      }
      std::ifstream file(name);
      if (!file) std::cerr << "cannot open " + name + '\n';
      read_feed(file, queue);
    });
  }
  return readers;
}

}  // namespace

int main(int count, char** names) {
  const std::vector<std::string> feeds(names + 1, names + count);
  batch_queue queue(feeds.size());
  const std::vector<std::jthread> readers = start_readers(feeds, queue);
  try {
    serve(queue);
  } catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    std::quick_exit(1);  // readers may block on input that never comes
  }
}
