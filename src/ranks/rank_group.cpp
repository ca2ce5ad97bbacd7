#include "ranks/rank_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "support/error.hpp"

namespace gpulog::ranks {
namespace {

constexpr char separator = '\0';  // no argument contains it

/// What rank 0 tells the other ranks.
constexpr char end_of_run = 'e';

std::string host_name() {
  constexpr std::size_t most_bytes = 256;
  std::array<char, most_bytes> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

std::vector<std::string> fields_of(std::string_view text) {
  std::vector<std::string> fields;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find(separator, begin);
    fields.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

// Fields of a rank's description; arguments follow.
constexpr std::size_t host_field = 0;
constexpr std::size_t process_field = 1;
constexpr std::size_t version_field = 2;
constexpr std::size_t argument_field = 3;

std::string arguments_in(const std::vector<std::string>& fields) {
  return fmt::format("{}", fmt::join(fields.begin() + argument_field, fields.end(), " "));
}

/// Returns how a rank differs from rank 0; empty: not at all.
std::string difference(const std::vector<std::string>& fields, const std::vector<std::string>& first,
                       const std::string& name) {
  if (fields[version_field] != first[version_field])
    return fmt::format("{} runs gpulog {}, but rank 0 runs gpulog {}", name, fields[version_field],
                       first[version_field]);
  if (!std::equal(fields.begin() + argument_field, fields.end(), first.begin() + argument_field, first.end()))
    return fmt::format("the arguments of {} are '{}', but those of rank 0 are '{}'", name, arguments_in(fields),
                       arguments_in(first));
  return {};
}

}  // namespace

rank_group::rank_group(std::unique_ptr<communicator> messages, const std::string& version,
                       const std::vector<std::string>& arguments)
    : messages_(std::move(messages)) {
  std::string described;
  const auto add = [&described](std::string_view field) { (described += field) += separator; };
  add(host_name());
  add(std::to_string(::getpid()));
  add(version);
  for (const std::string& argument : arguments) add(argument);
  compare(messages_->gather(described));
}

void rank_group::compare(const std::vector<std::string>& described) {
  std::string fault;
  std::string all;
  std::vector<std::string> first;
  for (std::size_t number = 0; number < described.size(); ++number) {
    const std::vector<std::string> fields = fields_of(described[number]);
    if (number == 0) first = fields;
    const std::string name =
        fmt::format("rank {} (process {} on {})", number, fields[process_field], fields[host_field]);
    if (fault.empty()) fault = difference(fields, first, name);
    for (const std::string& field : {fields[host_field], fields[process_field], name}) (all += field) += separator;
  }
  fault = messages_->broadcast(std::move(fault));
  if (!fault.empty()) throw input_error(fault);
  const std::vector<std::string> fields = fields_of(messages_->broadcast(std::move(all)));
  for (std::size_t i = 0; i < fields.size(); i += 3)
    members_.push_back({fields[i], std::stoll(fields[i + 1]), fields[i + 2]});
}

communicator& rank_group::begin(char task) {
  messages_->broadcast(&task, 1);
  return *messages_;
}

void rank_group::end() { begin(end_of_run); }

void rank_group::serve(const task_table& tasks) {
  for (;;) {
    char task = 0;
    messages_->broadcast(&task, 1);
    if (task == end_of_run) return;
    tasks.at(task)(*messages_);
  }
}

const std::string& rank_group::ended_rank() const {
  static const std::string none;
  const std::string* ended = &none;
  const std::size_t own = messages_->rank();
  for (std::size_t number = 0; number < (own == 0 ? members_.size() : own); ++number) {
    if (number == own || members_[number].host != members_[own].host) continue;
    const bool is_running = ::kill(static_cast<pid_t>(members_[number].process), 0) == 0 || errno == EPERM;
    if (is_running && own != 0) return none;  // a lower rank reports
    if (!is_running && ended->empty()) ended = &members_[number].name;
  }
  return *ended;
}

}  // namespace gpulog::ranks
