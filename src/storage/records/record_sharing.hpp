#pragma once

#include <cstdint>
#include <utility>

#include "storage/records/record_table.hpp"
#include "support/error.hpp"

namespace gpulog::storage {

/// The records of one arity in two tables, the host's and a device's, under the same numbers (docs/adr/0025). Only one
/// of the two makes records at a time, and numbers them from where both end; before the other one goes on, it takes
/// over those that it lacks, in order of number.
/// @tparam Other has size(), append(fields, records) and read(first record, records, fields), which copy from and to
/// the host
template <class Other>
class shared_records {
 public:
  shared_records(record_table& host, Other other) : host_(&host), other_(std::move(other)) {}

  /// The other table, with all records that the host has. @throws backend::memory_exceeded
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
  /// Lets the host have all records that the other table has. @throws as record_table::adopt
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
  std::uint64_t shared_ = 0;  ///< records that both have
};

}  // namespace gpulog::storage
