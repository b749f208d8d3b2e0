package dev.doorbell.core.adapter;

import java.util.Map;
import java.util.TreeMap;

/**
 * The promises of an HCA on reliable connections.
 *
 * @param name on the command line
 * @param title one line for lists
 * @param sources where each promise comes from, by {@link Promise#key()}
 */
public record Adapter(String name, String title, Promises promises, Map<String, String> sources) {
  /** InfiniBand's order: what a ConnectX-7 does without adaptive routing. */
  public static final Adapter DEFAULT = Adapters.named("cx7");

  public Adapter {
    sources = Map.copyOf(new TreeMap<>(sources));
  }

  /** Returns this adapter with other promises, under another name. */
  public Adapter with(String suffix, Promises other) {
    return new Adapter(name + suffix, title, other, sources);
  }

  @Override
  public String toString() {
    return name;
  }
}
