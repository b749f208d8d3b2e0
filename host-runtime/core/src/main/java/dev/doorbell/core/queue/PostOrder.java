package dev.doorbell.core.queue;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Fences of put_minimal between WQE, doorbell record and doorbell: docs/concepts.md. */
public enum PostOrder {
  NONE(0),
  FENCE(1),
  FENCE_SC(2),
  FENCED_RECORD(3),
  RELEASE(4),
  RELEASE_SYSTEM(5),
  SYSTEM(6),
  NO_RECORD(7),
  TWICE(8),
  READ_BACK(9);

  private final int number;

  PostOrder(int number) {
    this.number = number;
  }

  /** Returns the number by which the kernel's job names it. */
  public int number() {
    return number;
  }

  /** Returns the name in configs and on the command line. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns the order of that name. */
  public static Optional<PostOrder> of(String word) {
    return Arrays.stream(values()).filter(order -> order.word().equals(word)).findFirst();
  }

  /** Returns the names of all orders. */
  public static List<String> words() {
    return Arrays.stream(values()).map(PostOrder::word).toList();
  }
}
