/**
 * Components and the memory they share: which path an access takes, how posted writes arrive in
 * memory or at registers, and which sleepers a write wakes.
 */
@NullMarked
package dev.doorbell.core.fabric.timed.interconnect;

import org.jspecify.annotations.NullMarked;
