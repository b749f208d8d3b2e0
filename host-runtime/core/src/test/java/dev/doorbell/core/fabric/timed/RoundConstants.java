package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.CpuPrices.MemoryPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuRefinements;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Link.Credits;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.NicPrices.DmaPrices;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * Topologies of round constants for which every latency can be computed by hand; not measurements.
 * Gen4 x16, pushes of 128 bytes, completions of 256.
 */
final class RoundConstants {
  static final double EFFICIENCY = 0.95;

  private RoundConstants() {}

  /** GPU and HCA under one switch. */
  static Topology sameSwitch() {
    List<Link> links =
        List.of(
            Link.pcie("gpu", "gpu0", "switch", 4, 16, 256, EFFICIENCY),
            Link.pcie("nic", "nic0", "switch", 4, 16, 256, EFFICIENCY),
            Link.pcie("root", "switch", "cpu0", 4, 16, 256, EFFICIENCY));
    List<Path> paths =
        List.of(
            Path.of("gpu0", "nic0", List.of(new Hop("gpu", 175), new Hop("nic", 75))),
            Path.of("gpu0", "cpu0", List.of(new Hop("gpu", 175), new Hop("root", 275))),
            Path.of("nic0", "cpu0", List.of(new Hop("nic", 75), new Hop("root", 275))));
    return topology("round-pix", links, paths);
  }

  /** GPU and HCA at two sockets, the path between them capped. */
  static Topology acrossSockets() {
    List<Link> links =
        List.of(
            Link.pcie("gpu", "gpu0", "root0", 4, 16, 256, EFFICIENCY),
            Link.pcie("nic", "nic0", "root1", 4, 16, 256, EFFICIENCY),
            new Link("socket", "root0", "root1", 0, 0, 60, 256, true, false, 1, null),
            new Link("memory", "root0", "cpu0", 0, 0, 200, 256, true, false, 1, null),
            new Link("memory1", "root1", "cpu0", 0, 0, 200, 256, true, false, 1, null));
    List<Path> paths =
        List.of(
            new Path(
                "gpu0",
                "nic0",
                List.of(new Hop("gpu", 350), new Hop("socket", 250), new Hop("nic", 300)),
                true,
                6.1,
                14.3,
                0,
                true,
                0),
            Path.of("gpu0", "cpu0", List.of(new Hop("gpu", 350), new Hop("memory", 100))),
            Path.of("nic0", "cpu0", List.of(new Hop("nic", 300), new Hop("memory1", 50))));
    return topology("round-sys", links, paths);
  }

  /** As {@link #sameSwitch} with another HCA. */
  static Topology withNic(NicPrices nic) {
    return Prices.with(sameSwitch(), Map.of("name", "round-nic", "nics", List.of(nic)));
  }

  /** As {@link #sameSwitch} with a DMA engine of the HCA that takes time. */
  static Topology withDma(DmaPrices dma) {
    return withNic(Prices.with(sameSwitch().nics().getFirst(), Map.of("dma", dma)));
  }

  /** As {@link #sameSwitch} with other memory of the host. */
  static Topology withMemory(MemoryPrices memory) {
    CpuPrices cpu = Prices.with(sameSwitch().cpus().getFirst(), Map.of("memory", memory));
    return Prices.with(sameSwitch(), Map.of("name", "round-memory", "cpus", List.of(cpu)));
  }

  /** As {@link #sameSwitch} with what is known beyond the plain prices of the GPU. */
  static Topology refined(GpuRefinements refinements) {
    return refined(sameSwitch(), refinements);
  }

  static Topology refined(Topology base, GpuRefinements refinements) {
    GpuPrices gpu = Prices.with(base.gpus().getFirst(), Map.of("finer", refinements));
    return Prices.with(base, Map.of("name", "round-refined", "gpus", List.of(gpu)));
  }

  /** As {@link #sameSwitch}, but nobody routes reads between peers. */
  static Topology withoutPeerReads() {
    return withPaths(path -> change(path, false, 0));
  }

  /** As {@link #sameSwitch} with a random addition to every latency. */
  static Topology withJitter(double nanos) {
    return withPaths(path -> change(path, true, nanos));
  }

  private static Path change(Path path, boolean peerReads, double jitter) {
    return new Path(path.from(), path.to(), path.hops(), peerReads, 0, 0, 0, true, jitter);
  }

  private static Topology withPaths(UnaryOperator<Path> change) {
    Topology base = sameSwitch();
    return topology("round-paths", base.links(), base.paths().stream().map(change).toList());
  }

  /** As {@link #sameSwitch} with receivers that grant posted credits. */
  static Topology withCredits(Credits credits) {
    Topology base = sameSwitch();
    List<Link> links =
        base.links().stream().map(link -> Prices.with(link, Map.of("credits", credits))).toList();
    return topology("round-credits", links, base.paths());
  }

  static Topology topology(String name, List<Link> links, List<Path> paths) {
    GpuPrices gpu =
        Prices.of(
            GpuPrices.class,
            Map.of(
                "strongLoad",
                2,
                "atomic",
                150,
                "fence",
                200,
                "fenceSystem",
                200,
                "memoryService",
                300,
                "storeGranule",
                128,
                "combineWindow",
                50,
                "copyEngineStart",
                6500,
                "copyEngineRate",
                26));
    CpuPrices cpu =
        Prices.of(
            CpuPrices.class,
            Map.of(
                "post",
                80,
                "poll",
                100,
                "memoryService",
                90,
                "storeGranule",
                64,
                "combineWindow",
                100));
    NicPrices nic =
        Prices.of(
            NicPrices.class,
            Map.of("doorbell", 50, "wqe", 120, "packet", 100, "maxReadRequest", 512));
    Network network = new Network(1000, 50, 58, Network.Framing.ETHERNET);
    return new Topology(
        name,
        "round constants",
        List.of(gpu),
        List.of(cpu),
        List.of(nic),
        links,
        paths,
        network,
        null,
        List.of());
  }
}
