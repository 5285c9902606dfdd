#version 3.7;
global_settings { assumed_gamma 1.0 }
camera { location <0, 2.2, -9> look_at <0, 2.2, 0> right x*image_width/image_height }
light_source { <6, 9, -8> rgb <1, 0.95, 0.85> }
light_source { <0, 4.6, 0> rgb <1, 0.8, 0.3> fade_distance 3 fade_power 2 }
sky_sphere { pigment { gradient y color_map { [0 rgb <0.1, 0.12, 0.25>] [1 rgb <0.01, 0.01, 0.05>] } } }
cone { <0, 0, 0>, 1, <0, 4, 0>, 0.65 texture { pigment { gradient y color_map { [0.5 rgb <0.85, 0.2, 0.15>] [0.5 rgb 0.95] } scale 1.6 } } }
cylinder { <0, 4, 0>, <0, 4.8, 0>, 0.45 texture { pigment { rgbt <1, 0.9, 0.5, 0.4> } finish { ambient 0.6 } } }
cone { <0, 4.8, 0>, 0.7, <0, 5.5, 0>, 0 texture { pigment { rgb <0.25, 0.1, 0.1> } } }
plane { y, 0 texture { pigment { rgb <0.05, 0.1, 0.14> } normal { bumps 0.4 scale 0.5 } finish { reflection 0.3 } } }
