/**
 * The checks of the checklist: each is a function from a machine's facts to findings. None touches
 * hardware. The texts of the codes are in {@code catalogue/codes.yaml}.
 */
@NullMarked
package dev.doorbell.doctor.check;

import org.jspecify.annotations.NullMarked;
