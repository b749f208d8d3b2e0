package dev.doorbell.experiments.fuzz;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.StreamSupport;

/** A provider of targets, found as a service. */
public interface FuzzTargets {
  /** Returns the targets of this provider. */
  List<FuzzTarget> targets();

  /** Returns the targets of all providers, by name. */
  static List<FuzzTarget> all() {
    return StreamSupport.stream(ServiceLoader.load(FuzzTargets.class).spliterator(), false)
        .flatMap(provider -> provider.targets().stream())
        .sorted(Comparator.comparing(FuzzTarget::name))
        .toList();
  }
}
