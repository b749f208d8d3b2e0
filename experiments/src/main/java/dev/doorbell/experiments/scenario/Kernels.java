package dev.doorbell.experiments.scenario;

import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.plan.Catalogue;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import java.util.Locale;

/** How kernels are told about in lists. */
final class Kernels {
  private Kernels() {}

  static Catalogue.Entry entry(Protocol protocol) {
    KernelDescriptor descriptor = protocol.descriptor();
    KernelDescriptor.Launch launch = descriptor.launch();
    StringBuilder text = new StringBuilder();
    row(text, "measures", descriptor.measures().name().toLowerCase(Locale.ROOT));
    row(
        text,
        "runs at",
        switch (launch.ranks()) {
              case BOTH -> "both ranks";
              case SENDER -> "the sender";
              case ALL -> "all ranks";
            }
            + ", blocks %d, threads %s"
                .formatted(
                    launch.blocks(),
                    launch.threads() == 0
                        ? "as many as the copying needs"
                        : Integer.toString(launch.threads()))
            + (launch.cooperative() ? ", all resident" : ""));
    row(text, "posters", launch.shared() ? "several to a queue pair" : "one to a queue pair");
    row(
        text,
        "messages",
        switch (launch.slots()) {
          case BLOCKS -> launch.allRanks() ? "one for each rank" : "one of each block";
          case THREADS -> "one of each thread";
          case WINDOW -> "a window of them";
        });
    if (launch.signals() > 0) {
      row(text, "signals", "%d words at each rank".formatted(launch.signals()));
    }
    row(
        text,
        "paths",
        String.join(", ", TransferPath.words().stream().filter(descriptor::takes).toList()));
    row(text, "verified", descriptor.verify().name().toLowerCase(Locale.ROOT));
    row(text, "entry", descriptor.entry() + "(" + String.join(", ", descriptor.parameters()) + ")");
    descriptor.isa().ifPresent(isa -> row(text, "PTX ISA", isa));
    row(
        text,
        "source",
        protocol.own()
            ? "kernels/src/" + descriptor.name() + ".cu"
            : descriptor.place("").replaceFirst(":[0-9]+:[0-9]+$", ""));
    return new Catalogue.Entry(descriptor.name(), descriptor.description(), text.toString());
  }

  private static void row(StringBuilder text, String key, String value) {
    text.append("%-9s %s%n".formatted(key, value));
  }
}
