#pragma once

#include <cstdint>
#include <utility>

#include "storage/records/record_table.hpp"
#include "support/error.hpp"

namespace gpulog::storage {

/// The records of one arity in two tables, one on the host and one on a device, with the same numbers (docs/adr/0025).
/// Only one table creates records at a time and continues the common numbering; before the other one continues, it
/// copies the missing records in order of number.
/// @tparam Other has size(), append(fields, records) and read(first record, records, fields), which copy from and to
///   the host
template <class Other>
class shared_records {
 public:
  shared_records(record_table& host, Other other) : host_(&host), other_(std::move(other)) {}

  /// Returns the other table after copying all missing records to it.
  /// @throws backend::memory_exceeded
  Other& up_to_date() {
    const std::uint64_t made = host_->size();
    if (made == shared_) return other_;
    ensure(other_.size() == shared_, "records are made in one place at a time");
    host_->for_each_run(static_cast<word>(shared_ + 1), static_cast<word>(made),
                        [this](const word* fields, std::uint64_t records) {
                          other_.append(fields, records);
                          shared_ += records;
                        });
    return other_;
  }
  /// Copies all missing records to the host.
  /// @throws like record_table::adopt()
  void bring_to_host() {
    const std::uint64_t made = other_.size();
    if (made == shared_) return;
    ensure(host_->size() == shared_, "records are made in one place at a time");
    std::uint64_t known = shared_;
    host_->adopt(made - shared_, [&](word* fields, std::uint64_t records) {
      other_.read(static_cast<word>(known + 1), records, fields);
      known += records;
    });
    shared_ = known;
  }
  [[nodiscard]] Other& other() { return other_; }

 private:
  record_table* host_;
  Other other_;
  std::uint64_t shared_ = 0;  ///< number of records in both tables
};

}  // namespace gpulog::storage
