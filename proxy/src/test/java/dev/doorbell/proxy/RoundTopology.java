package dev.doorbell.proxy;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Prices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.List;
import java.util.Map;

/** Nodes of round constants for which latencies can be computed by hand. Gen4 x16. */
final class RoundTopology {
  private RoundTopology() {}

  /** GPU and HCA under one switch: 250 ns between them, 450 and 350 ns to the CPU. */
  static Topology sameSwitch() {
    return topology(
        List.of(
            Link.pcie("gpu", "gpu0", "switch", 4, 16, 256, 0.95),
            Link.pcie("nic", "nic0", "switch", 4, 16, 256, 0.95),
            Link.pcie("root", "switch", "cpu0", 4, 16, 256, 0.95)),
        List.of(
            Path.of("gpu0", "nic0", List.of(new Hop("gpu", 175), new Hop("nic", 75))),
            Path.of("gpu0", "cpu0", List.of(new Hop("gpu", 175), new Hop("root", 275))),
            Path.of("nic0", "cpu0", List.of(new Hop("nic", 75), new Hop("root", 275)))));
  }

  /** GPU and HCA at two sockets: 900 ns between them, reads capped. */
  static Topology acrossSockets() {
    List<Hop> across = List.of(new Hop("gpu", 350), new Hop("socket", 250), new Hop("nic", 300));
    return topology(
        List.of(
            Link.pcie("gpu", "gpu0", "root0", 4, 16, 256, 0.95),
            Link.pcie("nic", "nic0", "root1", 4, 16, 256, 0.95),
            new Link("socket", "root0", "root1", 0, 0, 60, 256, true, false, 1, null),
            new Link("memory", "root0", "cpu0", 0, 0, 200, 256, true, false, 1, null),
            new Link("memory1", "root1", "cpu0", 0, 0, 200, 256, true, false, 1, null)),
        List.of(
            new Path("gpu0", "nic0", across, true, 6.1, 14.3, 0, true, 0),
            Path.of("gpu0", "cpu0", List.of(new Hop("gpu", 350), new Hop("memory", 100))),
            Path.of("nic0", "cpu0", List.of(new Hop("nic", 300), new Hop("memory1", 50)))));
  }

  private static Topology topology(List<Link> links, List<Path> paths) {
    return new Topology(
        "round",
        "round constants",
        List.of(
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
                    26))),
        List.of(
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
                    100))),
        List.of(
            Prices.of(
                NicPrices.class,
                Map.of("doorbell", 50, "wqe", 120, "packet", 100, "maxReadRequest", 512))),
        links,
        paths,
        new Network(1000, 50, 58, Network.Framing.ETHERNET),
        null,
        List.of());
  }
}
