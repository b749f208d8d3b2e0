package dev.doorbell.core.fabric.timed.machine;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Describes one constant of a component: its key in a topology file, its range, and its value where
 * a file leaves it out. {@link Prices} and the reader of topology files do the rest.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Price {
  /** No time is longer: a second, in nanoseconds. */
  double NANOS = 1e9;

  /** Bytes a nanosecond that no link exceeds. */
  double RATE = 10_000;

  /** Bytes a nanosecond that no device's own memory exceeds. */
  double DEVICE_RATE = 100_000;

  /** Bytes of the largest payload of a TLP. */
  int LARGEST_PAYLOAD = 4096;

  /**
   * Key in a topology file. Without one it is the component's name in small letters and
   * underscores, and {@code _ns} behind a {@code double}; a nested record without one lies among
   * its owner's keys.
   */
  String key() default "";

  double least() default 0;

  double most() default NANOS;

  /** Value of a constant that a file may leave out; without one, a file has to give it. */
  double standard() default Double.NaN;

  /** Component, read earlier, whose value is the standard. */
  String like() default "";

  /** Only powers of two are allowed. */
  boolean power() default false;

  /** Zero is allowed, too, where powers of two are. */
  boolean orNone() default false;

  /** Power of the SM clock's period that the constant follows: 1 for cycles, -1 for a rate. */
  int cycles() default 0;
}
