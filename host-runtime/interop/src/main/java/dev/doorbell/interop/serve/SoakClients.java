package dev.doorbell.interop.serve;

import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.interop.control.ControlPlace;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Clients that come to a served HCA and go, several at the same time. */
public final class SoakClients {
  private static final long PAUSE_MILLIS = 5;
  private static final long JOIN_MILLIS = 120_000;

  private final ControlPlace place;
  private final SoakOptions options;
  private final Semaphore arrivals = new Semaphore(0);
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicLong gone = new AtomicLong();
  private final AtomicReference<@Nullable EnvironmentException> failure = new AtomicReference<>();

  private SoakClients(ControlPlace place, SoakOptions options) {
    this.place = place;
    this.options = options;
  }

  /**
   * Lets clients come and go until the time is over.
   *
   * @param stop ends it early; polled many times a second
   * @return how many have come and gone
   * @throws EnvironmentException when a client was refused, or read back other bytes than it wrote
   */
  public static long run(ControlPlace place, SoakOptions options, BooleanSupplier stop)
      throws EnvironmentException {
    return new SoakClients(place, options).run(stop);
  }

  private long run(BooleanSupplier stop) throws EnvironmentException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < options.clients(); i++) {
      SplittableRandom random = new SplittableRandom(options.seed() + i);
      threads.add(Thread.ofPlatform().name("soak-" + i).start(() -> clients(random)));
    }
    try {
      pace(stop);
      over.set(true);
      arrivals.release(options.clients());
      for (Thread thread : threads) {
        thread.join(JOIN_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    EnvironmentException failed = failure.get();
    if (failed != null) {
      throw failed;
    }
    return gone.get();
  }

  /** Clients that find no place free do not come all at once later. */
  private void pace(BooleanSupplier stop) throws InterruptedException {
    long start = System.nanoTime();
    long arrived = 0;
    long nanos = 0;
    while (nanos < options.duration().toNanos() && !stop.getAsBoolean() && failure.get() == null) {
      long due = (long) (nanos / 1e9 * options.perSecond());
      arrivals.release(
          (int) Math.min(due - arrived, options.clients() - arrivals.availablePermits()));
      arrived = due;
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      nanos = System.nanoTime() - start;
    }
  }

  private void clients(SplittableRandom random) {
    try {
      arrivals.acquire();
      while (!over.get()) {
        SoakClient.visit(place, random);
        gone.incrementAndGet();
        arrivals.acquire();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (EnvironmentException e) {
      failure.compareAndSet(null, e);
    } catch (ControlLine.Refused | RuntimeException e) {
      failure.compareAndSet(
          null, new EnvironmentException(Problem.of("DB-E045", null, "a client failed: " + e)));
    }
  }
}
