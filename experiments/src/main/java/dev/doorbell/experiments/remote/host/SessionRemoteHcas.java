package dev.doorbell.experiments.remote.host;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.experiments.remote.AllToAllOptions;
import dev.doorbell.experiments.remote.AllToAllReport;
import dev.doorbell.experiments.remote.BenchOptions;
import dev.doorbell.experiments.remote.BenchReport;
import dev.doorbell.experiments.remote.Bootstrap;
import dev.doorbell.experiments.remote.Endpoint;
import dev.doorbell.experiments.remote.RemoteHcas;
import dev.doorbell.experiments.remote.Rendezvous;
import dev.doorbell.experiments.remote.ServeOptions;
import dev.doorbell.experiments.remote.ServedHca;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.softhca.wire.Idleness;
import dev.doorbell.softhca.wire.WireCounters;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** {@link RemoteHcas} on software HCAs. */
public final class SessionRemoteHcas implements RemoteHcas {
  private static final long RESERVED = 2L << 30;
  private static final String LOOPBACK = "127.0.0.1";

  @Override
  public ServedHca serve(ServeOptions options) throws EnvironmentException {
    return new HcaServer(options);
  }

  @Override
  public BenchReport bench(BenchOptions options) throws EnvironmentException {
    return new HcaBench(options).run();
  }

  @Override
  public AllToAllReport allToAll(AllToAllOptions options, BooleanSupplier interrupted)
      throws EnvironmentException {
    try (Rendezvous rendezvous =
            options.process() == 0
                ? new Rendezvous(options.at(), options.ranks(), options.timeoutNanos())
                : null;
        DirectFabric fabric = new DirectFabric(AddressSpace.reserve(RESERVED), 0)) {
      Endpoint at =
          rendezvous == null ? options.at() : new Endpoint(options.at().host(), rendezvous.port());
      try (Bootstrap bootstrap = new Bootstrap(at, options.ranks(), options.timeoutNanos())) {
        return allToAll(options, fabric, new Over(bootstrap, rendezvous, options), interrupted);
      }
    }
  }

  private static AllToAllReport allToAll(
      AllToAllOptions options,
      DirectFabric fabric,
      AllToAll.Meeting meeting,
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
              meeting,
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

  @Override
  public AllToAllReport virtualAllToAll(AllToAllOptions options, BooleanSupplier interrupted)
      throws EnvironmentException {
    return VirtualAllToAll.run(options, interrupted);
  }

  /** The meeting of several processes; the first of them keeps the place. */
  private record Over(Bootstrap bootstrap, @Nullable Rendezvous place, AllToAllOptions options)
      implements AllToAll.Meeting {
    @Override
    public void bring(String name, List<String> values) {
      bootstrap.bring(name, options.firstRank(options.process()), values);
    }

    @Override
    public boolean isGathered() throws EnvironmentException {
      if (place != null) {
        place.poll();
      }
      return bootstrap.isGathered();
    }

    @Override
    public List<String> values() {
      return bootstrap.values();
    }
  }
}
