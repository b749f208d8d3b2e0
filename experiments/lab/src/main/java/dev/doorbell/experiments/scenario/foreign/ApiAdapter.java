package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.gpu.GpuException;
import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.experiments.config.kernel.DeviceApi;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Lays the structures of one API over the queue pairs of a rank. */
public interface ApiAdapter {
  /**
   * What the structures are laid over.
   *
   * @param connection the queue pairs; the place of the own rank is empty in a mesh
   * @param module of the kernel, loaded, whose variables may be filled
   * @param local the payload, with its lkey
   * @param inbox where messages arrive, with its lkey
   * @param targets the inboxes of all ranks by rank, each with its rkey
   * @param signals the signal words of all ranks by rank, each with its rkey; empty where the
   *     kernel has none
   * @param heaps of all ranks by rank, in which inboxes and signal words lie; empty where the
   *     library has none, and among processes
   * @param nvlink all ranks share a node, so that their GPUs reach each other's memory
   * @param owned closes the memory of the structures
   */
  record Site(
      Rank rank,
      Connection connection,
      GpuModule module,
      Span local,
      Span inbox,
      List<Span> targets,
      List<Span> signals,
      List<SymmetricHeap> heaps,
      boolean nvlink,
      Owned owned) {
    public Site {
      targets = List.copyOf(targets);
      signals = List.copyOf(signals);
      heaps = List.copyOf(heaps);
    }

    /** The queue pairs of the rank, in order. */
    List<Endpoint> endpoints() {
      return connection.endpoints(rank.number());
    }

    /** Places of queue pairs. */
    int places() {
      return connection.places(rank.number());
    }

    /** The rank that a queue pair leads to: the other one, or that of its place in a mesh. */
    int peer(Endpoint endpoint) {
      return places() > endpoints().size() ? endpoint.index() % targets.size() : 1 - rank.number();
    }
  }

  /** Registered memory. */
  record Span(long address, long bytes, int key) {}

  /** The adapter of an API. */
  static ApiAdapter of(DeviceApi api) {
    return switch (api) {
      case NVSHMEM -> new NvshmemAdapter();
    };
  }

  /**
   * What a parameter {@code queue_pairs} of a kernel gets.
   *
   * @param ptx of the module, whose table says how the structures are laid out
   * @throws GpuException naming the field that stands in the way
   */
  static Memory queuePairs(DeviceApi api, String ptx, Site site) {
    try {
      ApiAdapter adapter = of(api);
      ApiLayout layout = ApiLayout.read(api, site.module().name(), ptx);
      for (String field : adapter.fields()) {
        layout.place(field);
      }
      return adapter.install(layout, site);
    } catch (ApiLayoutException e) {
      throw new GpuException("%s: %s".formatted(site.module().name(), e.getMessage()), e);
    }
  }

  /**
   * The bytes that a library needs for itself in the symmetric heap of each rank; empty where it
   * has no such heap.
   *
   * @param file the name of the PTX, whose table says how large its areas are
   * @throws GpuException naming the field that stands in the way
   */
  static OptionalLong heapBytes(Optional<DeviceApi> api, String file, String ptx, int ranks) {
    if (api.isEmpty()) {
      return OptionalLong.empty();
    }
    try {
      ApiLayout layout = ApiLayout.read(api.get(), file, ptx);
      return OptionalLong.of(SymmetricHeap.room(NvshmemTeams.heapBytes(layout, ranks)));
    } catch (ApiLayoutException e) {
      throw new GpuException("%s: %s".formatted(file, e.getMessage()), e);
    }
  }

  /** The fields that are filled in or have to be zero, {@code type.field}. */
  List<String> fields();

  /**
   * Builds the structures of a rank.
   *
   * @return what a parameter {@code queue_pairs} points to
   * @throws ApiLayoutException naming a field that the user's headers lack
   */
  Memory install(ApiLayout layout, Site site) throws ApiLayoutException;
}
