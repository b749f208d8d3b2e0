package dev.doorbell.interop.alltoall;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.interop.control.HostPort;
import dev.doorbell.interop.job.Rendezvous;
import dev.doorbell.interop.job.RendezvousClient;
import dev.doorbell.interop.serve.HostRank;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.softhca.wire.RoceWire.Idleness;
import dev.doorbell.softhca.wire.RoceWire.WireCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** An all-to-all among processes, whose HCAs are joined by UDP. */
public final class RemoteAllToAll {
  private static final long RESERVED = 2L << 30;
  private static final String LOOPBACK = "127.0.0.1";

  private RemoteAllToAll() {}

  /**
   * Takes part in an all-to-all, as one process of it.
   *
   * @param interrupted polled regularly; true ends the job
   */
  public static AllToAllReport run(AllToAllOptions options, BooleanSupplier interrupted)
      throws EnvironmentException {
    try (Rendezvous rendezvous =
            options.process() == 0
                ? new Rendezvous(options.at(), options.ranks(), options.timeoutNanos())
                : null;
        DirectFabric fabric = new DirectFabric(AddressSpace.reserve(RESERVED), 0)) {
      HostPort at = rendezvous == null ? options.at() : rendezvous.place();
      try (RendezvousClient client =
          new RendezvousClient(at, options.ranks(), options.timeoutNanos())) {
        return run(options, fabric, new RemoteGather(client, rendezvous, options), interrupted);
      }
    }
  }

  private static AllToAllReport run(
      AllToAllOptions options,
      DirectFabric fabric,
      AllToAll.Gather gather,
      BooleanSupplier interrupted)
      throws EnvironmentException {
    int first = options.firstRank(options.process());
    List<HostRank> hosts = new ArrayList<>();
    List<FaultInjector> faults = new ArrayList<>();
    List<AllToAllRank> ranks = new ArrayList<>();
    try {
      for (int rank = first; rank < first + options.ownRanks(); rank++) {
        HostRank host = HostRank.open(fabric, rank, LOOPBACK);
        hosts.add(host);
        faults.add(options.faults().bind(rank, 0, fabric.now()));
        if (!options.faults().faults().isEmpty()) {
          host.hca().inject(faults.getLast());
        }
        ranks.add(
            new AllToAllRank(
                fabric,
                rank,
                options.ranks(),
                options.seed(),
                ProxyPrices.FREE,
                host.domain(),
                host.memory()));
      }
      AllToAll job =
          new AllToAll(
              fabric,
              ranks,
              options.ranks(),
              gather,
              interrupted,
              new Idleness(hosts.stream().map(HostRank::wire).toList())::look,
              options.timeoutNanos());
      long rounds = AllToAll.rounds(options.ranks(), options.messages());
      long start = fabric.now();
      job.run(rounds);
      long nanos = fabric.now() - start;
      long connections = (long) options.ownRanks() * (options.ranks() - 1);
      List<WireCounters> wires = hosts.stream().map(host -> host.wire().counters()).toList();
      return new AllToAllReport(
          rounds * connections * AllToAllTraffic.MESSAGES,
          rounds * connections * AllToAllTraffic.ADDS,
          job.bytesWrong(),
          job.atomicsWrong(),
          wires.stream().mapToLong(WireCounters::framesOut).sum(),
          wires.stream().mapToLong(WireCounters::framesIn).sum(),
          wires.stream().mapToLong(WireCounters::kernelDrops).sum(),
          nanos,
          FaultCount.total(options.faults(), faults),
          null);
    } finally {
      ranks.forEach(AllToAllRank::close);
      hosts.forEach(HostRank::close);
    }
  }

  /** Gathers over the rendezvous; process 0 polls its server as well. */
  private record RemoteGather(
      RendezvousClient client, @Nullable Rendezvous server, AllToAllOptions options)
      implements AllToAll.Gather {
    @Override
    public void start(String name, List<String> values) {
      client.start(name, options.firstRank(options.process()), values);
    }

    @Override
    public boolean isComplete() throws EnvironmentException {
      if (server != null) {
        server.poll();
      }
      return client.isComplete();
    }

    @Override
    public List<String> values() {
      return client.values();
    }
  }
}
