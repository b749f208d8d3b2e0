package dev.doorbell.proxy;

import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.GpuPrices;
import dev.doorbell.core.fabric.timed.machine.Link;
import dev.doorbell.core.fabric.timed.machine.Network;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.fabric.timed.machine.Path;
import dev.doorbell.core.fabric.timed.machine.Path.Hop;
import dev.doorbell.core.fabric.timed.machine.Topology;
import java.util.List;

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
        List.of(new GpuPrices(0, 0, 0, 2, 0, 0, 150, 200, 200, 0, 300, 128, 50, 0, 6500, 26)),
        List.of(new CpuPrices(0, 0, 0, 0, 80, 100, 90, 64, 100, 0)),
        List.of(new NicPrices(50, 120, 100, 0, 0, 512, 0, 0)),
        links,
        paths,
        new Network(1000, 50, 58),
        List.of());
  }
}
