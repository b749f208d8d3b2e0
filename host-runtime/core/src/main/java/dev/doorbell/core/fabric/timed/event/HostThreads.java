package dev.doorbell.core.fabric.timed.event;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * Host threads that share the work of a window: the one that calls, and helpers. A world takes them
 * for the time of one run. Where several worlds of the process run, each has its part of the
 * processors.
 */
public final class HostThreads implements AutoCloseable {
  private static final AtomicInteger WORLDS = new AtomicInteger();
  private static final ExecutorService HELPERS =
      Executors.newCachedThreadPool(
          Thread.ofPlatform().daemon().name("doorbell-window-", 0).factory());

  private final int threads;

  private HostThreads(int threads) {
    this.threads = threads;
  }

  /**
   * A world runs until {@link #close}.
   *
   * @param wanted how many threads, the caller included; 0: its part of the processors
   */
  public static HostThreads enter(int wanted) {
    int worlds = WORLDS.incrementAndGet();
    return new HostThreads(
        wanted > 0 ? wanted : Math.max(1, Runtime.getRuntime().availableProcessors() / worlds));
  }

  /** Calls {@code work} for each number below {@code count}, on all threads, and waits. */
  void forEach(int count, IntConsumer work) {
    int shares = Math.min(threads, count);
    if (shares <= 1) {
      for (int i = 0; i < count; i++) {
        work.accept(i);
      }
      return;
    }
    // Who is done with a share of its own, whose data its cache has, goes on with the others'.
    AtomicInteger[] next = new AtomicInteger[shares];
    for (int share = 0; share < shares; share++) {
      next[share] = new AtomicInteger(first(share, shares, count));
    }
    CountDownLatch helped = new CountDownLatch(shares - 1);
    for (int helper = 1; helper < shares; helper++) {
      int own = helper;
      HELPERS.execute(
          () -> {
            try {
              share(own, next, count, work);
            } finally {
              helped.countDown();
            }
          });
    }
    share(0, next, count, work);
    await(helped);
  }

  private static void share(int own, AtomicInteger[] next, int count, IntConsumer work) {
    for (int turn = 0; turn < next.length; turn++) {
      int share = (own + turn) % next.length;
      int end = first(share + 1, next.length, count);
      for (int i = next[share].getAndIncrement(); i < end; i = next[share].getAndIncrement()) {
        work.accept(i);
      }
    }
  }

  private static int first(int share, int shares, int count) {
    return (int) ((long) count * share / shares);
  }

  /** Helpers end by themselves: each event does. */
  private static void await(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    WORLDS.decrementAndGet();
  }
}
