package dev.doorbell.experiments.scenario.foreign;

import dev.doorbell.core.gpu.GpuModule;
import dev.doorbell.experiments.scenario.world.Connection;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import java.util.List;

/**
 * The part of a world that structures are laid over.
 *
 * @param connection the queue pairs; the place of the own rank is empty in a mesh
 * @param module of the kernel, loaded, whose variables may be filled
 * @param local the payload, with its lkey
 * @param inbox where messages arrive, with its lkey
 * @param targets the inboxes of all ranks by rank, each with its rkey
 * @param signals the signal words of all ranks by rank, each with its rkey; empty where the kernel
 *     has none
 * @param owned closes the memory of the structures
 */
public record Site(
    Rank rank,
    Connection connection,
    GpuModule module,
    Span local,
    Span inbox,
    List<Span> targets,
    List<Span> signals,
    Owned owned) {

  /** Registered memory. */
  public record Span(long address, long bytes, int key) {}

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
