#pragma once

#include <memory>
#include <unordered_map>

#include "storage/records/device_records.hpp"
#include "storage/records/record_sharing.hpp"

namespace gpulog::exec {

/// The device's tables of records, of those arities that it has met.
class device_record_tables {
 public:
  using table = storage::gpu::device_records;

  device_record_tables(const backend::gpu::device_context& context, backend::memory_resource& resource)
      : context_(&context), resource_(&resource) {}

  /// The device's table for one of the host, with all records that are there. @throws backend::memory_exceeded
  [[nodiscard]] table& of(storage::record_table& host) {
    std::unique_ptr<storage::shared_records<table>>& shared = tables_[&host];
    if (!shared) {
      shared = std::make_unique<storage::shared_records<table>>(
          host, table(*context_, *resource_, host.arity(), host.most()));
    }
    return shared->up_to_date();
  }
  /// Before the host looks records up, or reads them.
  void bring_to_host() {
    for (const auto& [host, shared] : tables_) shared->bring_to_host();
  }
  /// Frees what kernels of the running pipeline may have read while tables grew.
  void release_outgrown() {
    for (const auto& [host, shared] : tables_) shared->other().release_outgrown();
  }

 private:
  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  std::unordered_map<const storage::record_table*, std::unique_ptr<storage::shared_records<table>>> tables_;
};

}  // namespace gpulog::exec
