package dev.doorbell.experiments.session;

import dev.doorbell.core.gpu.Launch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The world of one explored run: what is launched, and what must be true in the end. */
interface ExploredWorld extends AutoCloseable {
  /** Starts the kernels. */
  List<Launch> launch();

  /** True when every kernel has ended. */
  boolean done();

  /** The first thing that went wrong though all ended, in words, or null. */
  @Nullable String trouble();

  @Override
  void close();
}
