/**
 * The systematic search: every execution of a small world once, up to the order of what commutes.
 */
@NullMarked
package dev.doorbell.core.fabric.explore.search;

import org.jspecify.annotations.NullMarked;
