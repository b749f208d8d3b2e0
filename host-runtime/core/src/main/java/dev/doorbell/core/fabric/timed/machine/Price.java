package dev.doorbell.core.fabric.timed.machine;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Describes one constant of a component: its key in a topology file, and its value where a file
 * leaves it out. Its range stands in the schema of topology files.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Price {
  /** Bytes of the largest payload of a TLP. */
  int LARGEST_PAYLOAD = 4096;

  /**
   * Key in a topology file. Without one it is the component's name in small letters and
   * underscores, and {@code _ns} behind a {@code double}; a nested record without one lies among
   * its owner's keys.
   */
  String key() default "";

  /** Value where a file leaves the constant out. */
  double standard() default 0;

  /** Component, read earlier, whose value is the standard. */
  String like() default "";

  /** Power of the SM clock's period that the constant follows: 1 for cycles, -1 for a rate. */
  int cycles() default 0;
}
