/**
 * Facts about a machine, read once, from files alone: {@code /proc}, {@code /sys}, {@code /dev} and
 * the environment, below a root that may be a copy of another machine's. PCI config space is parsed
 * here, so that neither lspci nor root is asked for more than it must be.
 */
@NullMarked
package dev.doorbell.doctor.facts;

import org.jspecify.annotations.NullMarked;
