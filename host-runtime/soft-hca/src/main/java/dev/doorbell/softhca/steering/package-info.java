/**
 * Who of an HCA receives what names no single queue pair: steering rules for Ethernet frames, and
 * multicast groups.
 */
@NullMarked
package dev.doorbell.softhca.steering;

import org.jspecify.annotations.NullMarked;
