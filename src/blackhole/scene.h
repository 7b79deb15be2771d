/// What one image shows: the hole, how it is seen, its flow and what is drawn over it. Drawn at random within ranges.
#pragma once

#include <span>
#include <string>

#include "blackhole/flow.h"
#include "blackhole/turbulence.h"

namespace penumbra::blackhole {

struct Range {
  double low, high;
};

/// The ranges that a user may narrow. All else that varies is in draw_scene.
struct SceneRanges {
  Range spin{-0.95, 0.98};       ///< within (-1, 1); negative: the flow turns against the hole
  Range inclination{0, 85};      ///< degrees from the axis, 0 to 90; even in solid angle
  Range diameter{0.22, 0.55};    ///< of the shadow's edge, as a share of the field: the mass over the distance
  Range peak{0.6, 1};            ///< of the brightest pixel
  Range blur{0.5, 3};            ///< SD of the beam in per cent of the field
  Range position_angle{0, 360};  ///< degrees, from up against the clock
};

/// The ranges by their names in configurations and options, with the bounds of each.
struct RangeField {
  const char* name;
  Range SceneRanges::*range;
  Range bounds;
  const char* meaning;
};
std::span<const RangeField> range_fields();

bool lies_within(const Range& range, const Range& bounds);
/// "expected [low, high] within ..., found ...", for messages.
std::string expectation(const Range& range, const Range& bounds);

struct Jet {
  double brightness = 0;  ///< 0: none; over that of the flow, both at its inner edge
  double opening = 0.8;   ///< |cos theta| of its wall
  double width = 0.1;     ///< of the wall, in cos theta
  double speed = 0.5;     ///< u^r
  double slope = 2;       ///< emissivity falls as r^-slope
  double counter = 1;     ///< brightness of the further jet over that of the nearer
};

struct Halo {
  double brightness = 0;  ///< at the centre, over the brightest pixel of the rest
  double size = 0.3;      ///< e-folding radius as a share of the field
  double flattening = 1;  ///< axis ratio
  double angle = 0;
};

struct Scene {
  double spin, inclination;  ///< radians
  double diameter, position_angle, shift_x, shift_y;
  bool mirrored;  ///< turns with the clock
  FlowOptions flow;
  double slope;           ///< emissivity falls as r^-slope
  double inner_edge;      ///< within it the flow is dark
  double sharpness;       ///< of the inner edge, a power
  double outer_edge;      ///< beyond it the flow fades exponentially
  double thickness;       ///< SD of cos theta
  double redshift_power;  ///< intensities go as g^power along a ray: 2 + spectral index
  TurbulenceOptions turbulence;
  double twist;  ///< azimuth by which the turbulence changes over the height, per cos theta
  int spots;
  HotSpot spot[3];
  Jet jet;
  Halo halo;
  double asymmetry, asymmetry_angle;  ///< factor 1 + asymmetry cos(angle - ...) over the sky
  double blur;                        ///< SD, share of the field
  double peak;
};

/// How many uniform numbers a scene takes.
constexpr int scene_numbers = 64;

Scene draw_scene(const SceneRanges& ranges, std::span<const double> uniforms);

}  // namespace penumbra::blackhole
